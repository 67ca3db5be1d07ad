/** TLS contexts of listeners and clients, and the trust in servers. */
@NullMarked
package dev.culvert.certs.tls;

import org.jspecify.annotations.NullMarked;
