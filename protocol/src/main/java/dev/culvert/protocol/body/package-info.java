/**
 * Queues of body parts, for all places where parts wait. Small parts are merged, so that the memory of a
 * queue is little more than its bytes. {@link dev.culvert.protocol.body.BodyQueue} holds parts, {@link
 * dev.culvert.protocol.body.BodyWriter} writes them to a socket. No IO.
 */
@NullMarked
package dev.culvert.protocol.body;

import org.jspecify.annotations.NullMarked;
