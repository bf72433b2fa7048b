/* SPDX-License-Identifier: BSD-3-Clause */
/* Included ahead of every file of the heartbeat emitter when it is compiled a second
 * time, for the streams of regions: the two are independent recorders of one
 * process, with one source. */
#ifndef TSN_INTERCEPT_REGION_EMITTER_H
#define TSN_INTERCEPT_REGION_EMITTER_H

#define tsanom_heartbeat_options_init tsn_region_options_init
#define tsanom_heartbeat_init tsn_region_init
#define tsanom_heartbeat_beat tsn_region_record
#define tsanom_heartbeat_finish tsn_region_finish
#define tsn_the_recorder tsn_region_the_recorder
#define tsn_beat_make_key tsn_region_make_key
#define tsn_storage_create tsn_region_storage_create
#define tsn_storage_back tsn_region_storage_back
#define tsn_storage_map tsn_region_storage_map
#define tsn_storage_populate tsn_region_storage_populate
#define tsn_storage_unmap tsn_region_storage_unmap
#define tsn_storage_write_header tsn_region_storage_write_header
#define tsn_storage_finish tsn_region_storage_finish
#define tsn_storage_remove tsn_region_storage_remove
#define tsn_storage_create_run tsn_region_storage_create_run
#define tsn_storage_write_run tsn_region_storage_write_run
#define tsn_storage_remove_run tsn_region_storage_remove_run
#define tsn_recorder_add_stream tsn_region_add_stream
#define tsn_recorder_calibrate tsn_region_calibrate
#define tsn_stream_lock tsn_region_stream_lock
#define tsn_stream_try_lock tsn_region_stream_try_lock
#define tsn_stream_unlock tsn_region_stream_unlock
#define tsn_grower_start tsn_region_grower_start
#define tsn_grower_stop tsn_region_grower_stop
#define tsn_clock_choose tsn_region_clock_choose
#define tsn_clock_moment tsn_region_clock_moment

#endif
