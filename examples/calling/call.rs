// SPDX-License-Identifier: BSD-3-Clause
// Call the library from Rust, by declarations of its own.
use std::ffi::{c_char, c_void, CStr};

/// tsanom_dtw_options, field by field.
#[repr(C)]
struct DtwOptions {
    struct_size: usize,
    radius: usize,
    cutoff: f64,
    tails: *const *const f64,
    penalty: f64,
    open_begin_x: usize,
    open_begin_y: usize,
    open_end_x: usize,
    open_end_y: usize,
    dimensions: usize,
    stride: usize,
    cost: i32,
    window: i32,
    path_memory: i32,
    reserved0: i32,
}

#[link(name = "tsanom-record")]
extern "C" {
    fn tsanom_status_text(status: i32) -> *const c_char;
}

#[link(name = "tsanom")]
extern "C" {
    fn tsanom_dtw_options_init(options: *mut DtwOptions, struct_size: usize) -> i32;
    fn tsanom_dtw_distance(
        x: *const f64,
        n: usize,
        y: *const f64,
        m: usize,
        options: *const DtwOptions,
        exec: *const c_void,
        distance: *mut f64,
    ) -> i32;
}

fn check(status: i32) -> Result<(), String> {
    if status == 0 {
        return Ok(());
    }
    let text = unsafe { CStr::from_ptr(tsanom_status_text(status)) };
    Err(text.to_string_lossy().into_owned())
}

fn dtw_distance(x: &[f64], y: &[f64], radius: usize) -> Result<f64, String> {
    let mut distance = 0.0;
    unsafe {
        let mut options: DtwOptions = std::mem::zeroed();
        check(tsanom_dtw_options_init(&mut options, std::mem::size_of::<DtwOptions>()))?;
        options.radius = radius;
        check(tsanom_dtw_distance(
            x.as_ptr(),
            x.len(),
            y.as_ptr(),
            y.len(),
            &options,
            std::ptr::null(),
            &mut distance,
        ))?;
    }
    Ok(distance)
}

fn main() -> Result<(), String> {
    let usual = [10.0, 10.0, 11.0, 12.0, 12.0, 12.0, 11.0, 10.0];
    let today = [10.0, 10.0, 10.0, 10.0, 11.0, 12.0, 12.0, 11.0];
    println!("distance {}", dtw_distance(&usual, &today, 3)?);
    Ok(())
}
