package dev.culvert.appproxy.commits;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;

/**
 * A file that was read.
 *
 * @param path the file's path
 * @param revision the id of its blob, which a change of the file names
 * @param data its content
 * @param encoding {@code UTF8}, or {@code BASE64} for content that is not UTF-8
 * @param sha the commit it was read from
 */
record FileRead(String path, String revision, String data, String encoding, String sha) {
    /** The bytes in memory for each byte of a file that is read: its content, its characters, its text. */
    static final int MEMORY_FACTOR = 5;

    static FileRead of(FilePath path, String revision, byte[] content, String sha) {
        try {
            String text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(content)).toString();
            return new FileRead(path.text(), revision, text, "UTF8", sha);
        } catch (CharacterCodingException e) {
            return new FileRead(path.text(), revision, Base64.getEncoder().encodeToString(content), "BASE64",
                    sha);
        }
    }
}
