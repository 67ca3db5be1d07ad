/** The order of deliveries: sources, turns of runtimes, retries. Pure state: no thread, no clock, no file. */
@NullMarked
package dev.culvert.inbox.queue;

import org.jspecify.annotations.NullMarked;
