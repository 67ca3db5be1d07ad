/**
 * Which requests a route takes, and which the cluster's owner allows: pure functions of a request's head, shared by the
 * request router, which forwards by them, and by whoever stands in front of it and has to give the same answer while the
 * router is away. Read {@link dev.culvert.edge.route.RouteIndex} first, then
 * {@link dev.culvert.edge.route.DurableRoutes}.
 */
@NullMarked
package dev.culvert.edge.route;

import org.jspecify.annotations.NullMarked;
