package dev.culvert.router;

/**
 * Where an upstream is, before its name is resolved; connections are pooled by it.
 *
 * @param tls whether it speaks TLS, under {@code host}'s name
 * @param host a name in lower case, or an address literal without brackets
 */
record UpstreamAddress(boolean tls, String host, int port) {}
