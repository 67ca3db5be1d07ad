/**
 * {@code culvert tail} and {@code culvert events}: commands that follow a server's stream of events until they
 * are ended.
 */
@NullMarked
package dev.culvert.launcher.follow;

import org.jspecify.annotations.NullMarked;
