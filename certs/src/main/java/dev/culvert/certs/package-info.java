/**
 * Keys, certificate requests, the authority that issues certificates, enrolment tokens, and the TLS contexts made of
 * them. Start with {@link dev.culvert.certs.CertificateAuthority} (issues), {@link dev.culvert.certs.TlsMaterial} (a
 * chain with its key) and {@link dev.culvert.certs.tls.TlsContexts} (Netty's view of both). All keys are ECDSA P-256;
 * BouncyCastle does the encoding and appears in no signature. Everything here is safe to use from any thread; reading
 * and writing files blocks. Errors are {@link dev.culvert.certs.CertsException}.
 */
@NullMarked
package dev.culvert.certs;

import org.jspecify.annotations.NullMarked;
