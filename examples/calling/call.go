// SPDX-License-Identifier: BSD-3-Clause
// Call the library from Go, by cgo.
package main

/*
#cgo pkg-config: tsanom
#include <tsanom/dtw.h>
*/
import "C"

import (
	"fmt"
	"log"
	"unsafe"
)

func dtwDistance(x, y []float64, radius int) (float64, error) {
	var options C.tsanom_dtw_options
	var distance C.double
	C.tsanom_dtw_options_init(&options, C.size_t(unsafe.Sizeof(options)))
	options.radius = C.size_t(radius)
	status := C.tsanom_dtw_distance((*C.double)(&x[0]), C.size_t(len(x)), (*C.double)(&y[0]),
		C.size_t(len(y)), &options, nil, &distance)
	if status != C.TSANOM_OK {
		return 0, fmt.Errorf("tsanom: %s", C.GoString(C.tsanom_status_text(status)))
	}
	return float64(distance), nil
}

func main() {
	usual := []float64{10, 10, 11, 12, 12, 12, 11, 10}
	today := []float64{10, 10, 10, 10, 11, 12, 12, 11}
	distance, err := dtwDistance(usual, today, 3)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("distance", distance)
}
