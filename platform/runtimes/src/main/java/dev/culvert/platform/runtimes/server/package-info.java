/** The tunnel server: its admin API, the messages to it, and the comparison of both lists. */
@NullMarked
package dev.culvert.platform.runtimes.server;

import org.jspecify.annotations.NullMarked;
