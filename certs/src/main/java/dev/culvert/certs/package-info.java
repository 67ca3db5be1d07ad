/**
 * Keys, certificate requests, the certificate authority, enrolment tokens, and TLS contexts. Start with
 * {@link dev.culvert.certs.CertificateAuthority} (issues), {@link dev.culvert.certs.TlsMaterial} (a chain
 * with its key) and {@link dev.culvert.certs.tls.TlsContexts} (Netty's view of both). All keys are ECDSA
 * P-256. BouncyCastle does the encoding and appears in no method signature. All types are safe for use by any
 * thread. Reading and writing files blocks. Errors are {@link dev.culvert.certs.CertsException}.
 */
@NullMarked
package dev.culvert.certs;

import org.jspecify.annotations.NullMarked;
