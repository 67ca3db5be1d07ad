package dev.culvert.web;

import java.nio.ByteBuffer;

/**
 * A file that pages load: a style sheet, a script. Its URL contains the hash of its content, so browsers may
 * keep it for ever.
 *
 * @param url the path with the hash
 * @param mediaType its {@code Content-Type}
 * @param plain its content
 * @param gzip its content, compressed
 */
record Asset(String url, String mediaType, ByteBuffer plain, ByteBuffer gzip) {}
