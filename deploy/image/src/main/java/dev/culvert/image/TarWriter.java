package dev.culvert.image;

import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Writes a tar archive (POSIX ustar) in which nothing but names, contents and modes tells one file from
 * another.
 */
final class TarWriter implements Closeable {
    private static final int BLOCK = 512;
    private static final int NAME = 100;
    private static final int PREFIX = 155;
    /** The largest size in the eleven octal digits of the format. */
    private static final long MAX_SIZE = (1L << 33) - 1;

    private final OutputStream out;
    private final long seconds;

    /** @param seconds the time of all files, since 1970; the stream is closed with this */
    TarWriter(OutputStream out, long seconds) {
        this.out = out;
        this.seconds = seconds;
    }

    void folder(String name, int mode) throws IOException {
        header(name + "/", mode, 0, '5', "");
    }

    void link(String name, String target) throws IOException {
        header(name, 0777, 0, '2', target);
    }

    void file(String name, int mode, Path content) throws IOException {
        long size = Files.size(content);
        header(name, mode, size, '0', "");
        Files.copy(content, out);
        pad(size);
    }

    void file(String name, int mode, byte[] content) throws IOException {
        header(name, mode, content.length, '0', "");
        out.write(content);
        pad(content.length);
    }

    private void pad(long size) throws IOException {
        out.write(new byte[(int) ((BLOCK - size % BLOCK) % BLOCK)]);
    }

    private void header(String path, int mode, long size, char type, String target) throws IOException {
        byte[] header = new byte[BLOCK];
        int cut = path.length() <= NAME ? -1 : path.lastIndexOf('/', Math.min(PREFIX, path.length() - 2));
        String name = path.substring(cut + 1);
        if (name.length() > NAME || size > MAX_SIZE || target.length() > NAME) {
            throw new IOException(path + ": too long or too large for a tar archive of the plain format");
        }
        put(header, 0, name);
        octal(header, 100, 8, mode);
        octal(header, 108, 8, 0);
        octal(header, 116, 8, 0);
        octal(header, 124, 12, size);
        octal(header, 136, 12, seconds);
        header[156] = (byte) type;
        put(header, 157, target);
        put(header, 257, "ustar");
        put(header, 263, "00");
        if (cut > 0) {
            put(header, 345, path.substring(0, cut));
        }
        put(header, 148, "        ");
        int sum = 0;
        for (byte each : header) {
            sum += each & 0xff;
        }
        octal(header, 148, 7, sum);
        out.write(header);
    }

    private static void put(byte[] header, int at, String text) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
        if (!new String(bytes, StandardCharsets.US_ASCII).equals(text)) {
            throw new IOException(text + ": not ASCII");
        }
        System.arraycopy(bytes, 0, header, at, bytes.length);
    }

    private static void octal(byte[] header, int at, int width, long value) throws IOException {
        String digits = Long.toOctalString(value);
        put(header, at, "0".repeat(width - 1 - digits.length()) + digits);
    }

    @Override
    public void close() throws IOException {
        out.write(new byte[2 * BLOCK]);
        out.close();
    }
}
