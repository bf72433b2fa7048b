/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of MPI that the recorder does not know. If one of them waits, the time in it
 * counts as computation, and the rank that waits is taken for the one that works. So the
 * command warns before the program runs. */
#include <string.h>

#include "linkage.h"

#define CALL(name, ...) #name,
#define POLL CALL
#define LARGE(name, ...) #name, #name "_c",
static const char *const recorded[] = {
#include "intercept/mpi_calls.h"
};

/* How the names of functions begin that neither communicate nor wait. */
static const char *const local[] = {"MPI_Type_",
                                    "MPI_Info_",
                                    "MPI_Group_",
                                    "MPI_T_",
                                    "MPI_Op_",
                                    "MPI_Attr_",
                                    "MPI_Keyval_",
                                    "MPI_Errhandler_",
                                    "MPI_Status_",
                                    "MPI_Error_",
                                    "MPI_Pack",
                                    "MPI_Unpack",
                                    "MPI_Graph_",
                                    "MPI_Graphdims_",
                                    "MPI_Cart_",
                                    "MPI_Cartdim_",
                                    "MPI_Topo_",
                                    "MPI_Dims_",
                                    "MPI_Session_",
                                    "MPI_Grequest_",
                                    "MPI_Aint_",
                                    "MPI_Get_",
                                    "MPI_Add_error_",
                                    "MPI_Remove_error_",
                                    "MPI_Comm_get_",
                                    "MPI_Comm_set_",
                                    "MPI_Win_get_",
                                    "MPI_Win_set_",
                                    "MPI_File_get_",
                                    "MPI_File_set_errhandler",
                                    "MPI_Comm_compare",
                                    "MPI_Comm_group",
                                    "MPI_Comm_rank",
                                    "MPI_Comm_size",
                                    "MPI_Comm_remote_",
                                    "MPI_Comm_test_",
                                    "MPI_Comm_create_",
                                    "MPI_Comm_free_",
                                    "MPI_Comm_delete_",
                                    "MPI_Comm_call_",
                                    "MPI_Win_create_",
                                    "MPI_Win_free_",
                                    "MPI_Win_delete_",
                                    "MPI_Win_call_",
                                    "MPI_Win_attach",
                                    "MPI_Win_detach",
                                    "MPI_Win_shared_",
                                    "MPI_Dist_graph_neighbors",
                                    "MPI_Request_",
                                    "MPI_Message_",
                                    "MPI_Abort",
                                    "MPI_Alloc_mem",
                                    "MPI_Free_mem",
                                    "MPI_Address",
                                    "MPI_Buffer_",
                                    "MPI_Cancel",
                                    "MPI_Close_port",
                                    "MPI_Open_port",
                                    "MPI_Finalized",
                                    "MPI_Initialized",
                                    "MPI_Is_thread_main",
                                    "MPI_Query_thread",
                                    "MPI_Pcontrol",
                                    "MPI_Pready",
                                    "MPI_Psend_",
                                    "MPI_Precv_",
                                    "MPI_Publish_",
                                    "MPI_Unpublish_",
                                    "MPI_Lookup_",
                                    "MPI_Reduce_local",
                                    "MPI_Register_",
                                    "MPI_Test_cancelled",
                                    "MPI_Wtick",
                                    "MPI_Wtime",
                                    "MPI_File_call_",
                                    "MPI_File_create_",
                                    "MPI_File_delete",
                                    "MPI_File_seek",
                                    "MPI_File_c2f",
                                    "MPI_File_f2c",
                                    "MPI_Comm_c2f",
                                    "MPI_Comm_f2c",
                                    "MPI_Win_c2f",
                                    "MPI_Win_f2c",
                                    "MPI_DUP_FN",
                                    "MPI_NULL_",
                                    "MPI_CONVERSION_",
                                    "MPI_COMM_",
                                    "MPI_TYPE_",
                                    "MPI_WIN_",
                                    "MPI_F_",
                                    "MPI_F08_",
                                    "MPI_UNWEIGHTED",
                                    "MPI_WEIGHTS_EMPTY",
                                    "MPI_Init"};

/* A call that is started later, by MPI_Start, ends so. */
int is_unknown_mpi(const char *name) {
  static const char start[] = "_init";
  size_t length = strlen(name);
  if (strncmp(name, "MPI_", strlen("MPI_")) != 0) return 0;
  if (length > sizeof start && strcmp(name + length - strlen(start), start) == 0)
    return 0;
  for (size_t i = 0; i < sizeof recorded / sizeof *recorded; i++) {
    if (strcmp(name, recorded[i]) == 0) return 0;
  }
  for (size_t i = 0; i < sizeof local / sizeof *local; i++) {
    if (strncmp(name, local[i], strlen(local[i])) == 0) return 0;
  }
  return 1;
}
