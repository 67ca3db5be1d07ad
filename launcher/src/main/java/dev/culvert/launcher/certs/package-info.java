/**
 * The folder that {@code certs init} writes, {@link dev.culvert.launcher.certs.CertsFolder}, for the command
 * and the demo.
 */
@NullMarked
package dev.culvert.launcher.certs;

import org.jspecify.annotations.NullMarked;
