# SPDX-License-Identifier: BSD-3-Clause
"""Points whose classes are known, for clusters.py: each function takes a numpy generator
and returns points and classes; -1 is noise. Lengths have no unit."""
import numpy
from sklearn import datasets


def blobs(random, centers, sizes, deviations):
    """Normal clouds."""
    centers = numpy.asarray(centers, float)
    deviations = numpy.broadcast_to(deviations, len(centers))
    clouds = [center + deviation * random.standard_normal((size, len(center)))
              for center, size, deviation in zip(centers, sizes, deviations)]
    return numpy.vstack(clouds), numpy.repeat(numpy.arange(len(centers)), sizes)


def noisy(random, points, deviation):
    return points + deviation * random.standard_normal(points.shape)


def around(angle, radius=1.0):
    return numpy.column_stack([radius * numpy.cos(angle), radius * numpy.sin(angle)])


def disk(random, count):
    """Uniform in the unit disk."""
    return around(2 * numpy.pi * random.random(count), numpy.sqrt(random.random(count)))


CORNERS = [[0, 0], [6, 0], [0, 6], [6, 6]]


def four_clouds(random):
    return blobs(random, CORNERS, [100] * 4, 1)


def three_close(random):
    return blobs(random, [[0, 0], [4, 0], [2, 4]], [150] * 3, .8)


def moons(random):
    upper, lower = numpy.pi * random.random((2, 250))
    points = numpy.vstack([around(upper), [1, .5] - around(lower)])
    return noisy(random, points, .06), numpy.repeat([0, 1], 250)


def circles(random):
    points = around(2 * numpy.pi * random.random(500), numpy.repeat([1, .5], 250))
    return noisy(random, points, .05), numpy.repeat([0, 1], 250)


def anisotropic(random):
    points, classes = blobs(random, [[0, 0], [4, 4], [-3, 6]], [200] * 3, .8)
    return points @ [[.6, -.6], [-.4, .8]], classes


def varied_density(random):
    return blobs(random, [[0, 0], [12, 0], [0, 9]], [200] * 3, [1, 2.5, .5])


def unequal_sizes(random):
    return blobs(random, [[0, 0], [8, 0], [0, 7]], [500, 100, 20], 1)


def seven_disks(random):
    """After the data set Aggregation: x, y, radius, points."""
    disks = [(0, 0, 4, 270), (9, 1, 3, 170), (17, 2, 1.5, 45), (17, -3, 1.3, 34),
             (9, -8, 3, 130), (-2, -9, 2.5, 105), (3, 8, 1.5, 40)]
    points = numpy.vstack([[x, y] + radius * disk(random, count)
                           for x, y, radius, count in disks])
    return points, numpy.repeat(numpy.arange(7), [d[3] for d in disks])


def spirals(random):
    radius = numpy.sqrt(random.random(600)) * 2.2 * numpy.pi + .6
    classes = numpy.repeat([0, 1, 2], 200)
    points = around(radius + classes * 2 * numpy.pi / 3, radius)
    return noisy(random, points, .12), classes


def clouds_in_noise(random):
    points, classes = blobs(random, CORNERS, [100] * 4, .7)
    noise = -4 + 14 * random.random((100, 2))
    return numpy.vstack([points, noise]), numpy.append(classes, [-1] * 100)


def one_class(draw, dimensions):
    def points(random):
        return getattr(random, draw)(size=(500, dimensions)), numpy.zeros(500, int)
    return points


def far_clouds(dimensions, count, distance):
    """Centers in random directions."""
    def points(random):
        centers = random.standard_normal((count, dimensions))
        centers *= distance / numpy.linalg.norm(centers, axis=1)[:, None]
        return blobs(random, centers, [80] * count, 1)
    return points


def duplicates(random):
    points, classes = blobs(random, [[0, 0], [14, 0], [0, 14], [14, 14]], [120] * 4, 1.5)
    return numpy.round(points), classes


def dense_and_sparse(random):
    return blobs(random, [[0, 0], [8, 0]], [250, 250], [.2, 2])


def parallel_lines(random):
    lines = [numpy.column_stack([10 * random.random(150),
                                 y + .1 * random.standard_normal(150)]) for y in range(4)]
    return numpy.vstack(lines), numpy.repeat(numpy.arange(4), 150)


def grid_of_25(random):
    """After the data set D31."""
    centers = [[4 * x, 4 * y] for x in range(5) for y in range(5)]
    return blobs(random, centers, [40] * 25, .6)


def elongated(random):
    points, classes = blobs(random, [[0, 0], [0, 6], [0, 12]], [150] * 3, 1)
    return points * [8, 1], classes


def core_in_disk(random):
    points = [10 * disk(random, 300), .5 * random.standard_normal((200, 2))]
    return numpy.vstack(points), numpy.repeat([-1, 0], [300, 200])


def bridge(random):
    points, classes = blobs(random, [[0, 0], [10, 0]], [200] * 2, 1)
    between = numpy.column_stack([2 + 6 * random.random(15),
                                  .3 * random.standard_normal(15)])
    return numpy.vstack([points, between]), numpy.append(classes, [-1] * 15)


def linked_rings(random):
    first, second = (around(2 * numpy.pi * random.random(250)) for _ in range(2))
    zero = numpy.zeros(250)
    points = numpy.vstack([numpy.column_stack([first, zero]),
                           numpy.column_stack([1 + second[:, 0], zero, second[:, 1]])])
    return noisy(random, points, .05), numpy.repeat([0, 1], 250)


def on_a_line(random):
    return blobs(random, [[0], [10], [25]], [100, 60, 40], [1, 1, 2])


def core_and_ring(random):
    core, _ = blobs(random, [[0, 0]], [80], .4)
    ring = noisy(random, around(2 * numpy.pi * random.random(200), 3), .2)
    pair, _ = blobs(random, [[8, 0], [8, 3]], [70, 70], .5)
    return numpy.vstack([core, ring, pair]), numpy.repeat([0, 1, 2, 3], [80, 200, 70, 70])


def nested_pairs(random):
    return blobs(random, [[0, 0], [2.5, 0], [10, 0], [12.5, 0], [5, 9]], [80] * 5, .4)


def bundled(load, scaled):
    """A data set of scikit-learn, up to 1000 rows in random order."""
    def points(random):
        data, classes = load(return_X_y=True)
        if scaled:
            data = (data - data.mean(axis=0)) / data.std(axis=0)
        rows = random.permutation(len(data))[:1000]
        return data[rows], classes[rows]
    return points


SETS = {
    "four clouds": four_clouds, "three close clouds": three_close,
    "clouds of varied density": varied_density, "clouds of unequal sizes": unequal_sizes,
    "anisotropic clouds": anisotropic, "elongated clouds": elongated,
    "dense beside sparse": dense_and_sparse, "nested pairs": nested_pairs,
    "grid of 25": grid_of_25, "6 clouds, 10-D": far_clouds(10, 6, 6),
    "4 clouds, 50-D": far_clouds(50, 4, 12), "clouds on a line": on_a_line,
    "rounded, duplicates": duplicates, "clouds in noise": clouds_in_noise,
    "clouds and bridge": bridge, "core in a disk": core_in_disk,
    "seven disks": seven_disks, "core and ring": core_and_ring, "moons": moons,
    "circles": circles, "linked rings": linked_rings, "spirals": spirals,
    "parallel lines": parallel_lines, "iris": bundled(datasets.load_iris, True),
    "wine": bundled(datasets.load_wine, True), "digits": bundled(datasets.load_digits, False),
    "uniform, one class": one_class("uniform", 2),
    "normal, one class": one_class("standard_normal", 2),
    "normal 10-D, one class": one_class("standard_normal", 10),
    "exponential, one class": one_class("exponential", 2),
}
