/**
 * Bodies that handlers need as a whole, read into memory within shares and deadlines. Read
 * {@link dev.culvert.edge.intake.BodyIntake} first.
 */
@NullMarked
package dev.culvert.edge.intake;

import org.jspecify.annotations.NullMarked;
