package dev.culvert.e2e;

import static dev.culvert.relay.testing.ClientHelloBytes.body;
import static dev.culvert.relay.testing.ClientHelloBytes.inRecords;
import static dev.culvert.relay.testing.ClientHelloBytes.join;
import static dev.culvert.relay.testing.ClientHelloBytes.message;
import static dev.culvert.relay.testing.ClientHelloBytes.name;
import static dev.culvert.relay.testing.ClientHelloBytes.real;
import static dev.culvert.relay.testing.ClientHelloBytes.serverNames;

import dev.culvert.relay.testing.CorpusCase;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;

/**
 * The first bytes of a TLS connection that a case describes, and what a listener makes of them. A case's lines: {@code hello
 * NAME} is what a JDK's client sends; {@code name NAME} puts another name of the same length into it; {@code records N} cuts
 * it into records of N octets; {@code names A B} and {@code lists A B} are hellos with two names; {@code octets …} are bytes.
 */
final class TlsFault {
    private static final int PATIENCE_MILLIS = 20_000;
    private static final int ALERT = 21;
    private static final int HANDSHAKE = 22;

    private final ByteArrayOutputStream whole = new ByteArrayOutputStream();
    private byte[] hello = {};
    private String named = "";

    private TlsFault() {}

    /**
     * Sends a case to a port.
     *
     * @param certified the name whose certificate is not that of all others
     * @param protocols what a client's hello offers
     * @return {@code its certificate} for the certificate of that name, {@code other certificate}, {@code answers} where it
     *         is encrypted, {@code alert}, {@code closed}, or what else came first: the first line of an upstream
     */
    static String answer(CorpusCase given, int port, String certified, String... protocols)
            throws IOException {
        byte[] bytes = bytes(given, protocols);
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setSoTimeout(PATIENCE_MILLIS);
            try {
                socket.getOutputStream().write(bytes);
            } catch (IOException e) {
                // refused before all was sent: the answer is there
            }
            return read(new DataInputStream(socket.getInputStream()), certified);
        }
    }

    private static byte[] bytes(CorpusCase given, String... protocols) {
        var fault = new TlsFault();
        given.lines().forEach(line -> fault.add(line, protocols));
        fault.flush();
        return fault.whole.toByteArray();
    }

    private void add(String line, String... protocols) {
        String[] words = line.split(" ", 2);
        String rest = words.length < 2 ? "" : CorpusCase.text(words[1]);
        switch (words[0]) {
            case "hello" -> {
                flush();
                named = rest;
                hello = real(rest.isEmpty() ? null : rest, protocols);
            }
            case "name" -> {
                String text = new String(hello, StandardCharsets.ISO_8859_1);
                if (rest.length() != named.length() || !text.contains(named)) {
                    throw new IllegalStateException(line);
                }
                hello = latin(text.replace(named, rest));
            }
            case "records" -> hello = inRecords(hello, Integer.parseInt(rest));
            case "names", "lists" -> {
                flush();
                String[] names = rest.split(" ", 2);
                byte[] extensions = words[0].equals("names")
                        ? serverNames(join(name(0, names[0]), name(0, names[1])))
                        : join(serverNames(name(0, names[0])), serverNames(name(0, names[1])));
                hello = message(1, body(extensions));
            }
            case "octets" -> {
                flush();
                whole.writeBytes(latin(rest));
            }
            default -> throw new IllegalStateException(line);
        }
    }

    private void flush() {
        whole.writeBytes(hello);
        hello = new byte[0];
    }

    private static byte[] latin(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    private static String read(DataInputStream in, String certified) {
        var handshake = new StringBuilder();
        try {
            while (true) {
                int type = in.readUnsignedByte();
                if (type == ALERT) {
                    return "alert";
                } else if (type != HANDSHAKE) {
                    return (char) type + new String(in.readAllBytes(), StandardCharsets.ISO_8859_1);
                }
                in.readUnsignedShort();
                byte[] record = in.readNBytes(in.readUnsignedShort());
                handshake.append(new String(record, StandardCharsets.ISO_8859_1));
                if (handshake.indexOf(certified) >= 0) {
                    return "its certificate";
                } else if (isDone(handshake)) {
                    return "other certificate";
                } else if (isEncrypted(handshake)) {
                    return "answers";
                }
            }
        } catch (SocketTimeoutException e) {
            return "silent";
        } catch (IOException e) {
            return "closed";
        }
    }

    /** ServerHelloDone has no content, and is the last of the server's first messages. */
    private static boolean isDone(CharSequence handshake) {
        return handshake.toString().endsWith("\u000e\0\0\0");
    }

    /** RFC 8446 §4.1.3: supported_versions in a ServerHello is TLS 1.3, which encrypts what follows. */
    private static boolean isEncrypted(CharSequence handshake) {
        return handshake.toString().contains("\0+\0\2\3\4");
    }
}
