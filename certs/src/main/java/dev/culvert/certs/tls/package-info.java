/** TLS contexts of listeners and clients, and how servers are trusted. */
@NullMarked
package dev.culvert.certs.tls;

import org.jspecify.annotations.NullMarked;
