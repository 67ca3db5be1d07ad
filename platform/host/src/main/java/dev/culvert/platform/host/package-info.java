/**
 * The control plane: one listener, one database and one host for the modules of the platform. Start with
 * {@link dev.culvert.platform.host.ControlPlane}.
 */
@NullMarked
package dev.culvert.platform.host;

import org.jspecify.annotations.NullMarked;
