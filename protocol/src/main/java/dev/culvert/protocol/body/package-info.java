/**
 * Parts of bodies that wait, in every place where they do: small ones are merged, so that what waits costs little more than
 * its bytes. {@link dev.culvert.protocol.body.BodyQueue} holds them, {@link dev.culvert.protocol.body.BodyWriter} stands in
 * front of a socket. No IO.
 */
@NullMarked
package dev.culvert.protocol.body;

import org.jspecify.annotations.NullMarked;
