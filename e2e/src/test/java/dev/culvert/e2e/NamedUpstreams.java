package dev.culvert.e2e;

import dev.culvert.config.HostPort;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/** An upstream for each name, which answers with its name and the request line that came. Every byte of a path is taken. */
final class NamedUpstreams implements AutoCloseable {
    private static final Pattern LENGTH = Pattern.compile("(?im)^content-length: *(\\d+)");

    private final List<ServerSocket> listeners = new ArrayList<>();
    private final Map<String, List<HostPort>> addresses = new HashMap<>();

    /** @param names {@code host:port} each */
    NamedUpstreams(Set<String> names) throws IOException {
        for (String name : names) {
            ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
            listeners.add(listener);
            addresses.put(name, List.of(new HostPort("127.0.0.1", listener.getLocalPort())));
            Thread.ofVirtual().start(() -> accept(name, listener));
        }
    }

    /** Where they are, for {@code resolve}. */
    Map<String, List<HostPort>> addresses() {
        return Map.copyOf(addresses);
    }

    private static void accept(String name, ServerSocket listener) {
        try {
            while (true) {
                Socket socket = listener.accept();
                Thread.ofVirtual().start(() -> serve(name, socket));
            }
        } catch (IOException e) {
            // closed: the test is over
        }
    }

    private static void serve(String name, Socket socket) {
        try (socket) {
            InputStream in = new BufferedInputStream(socket.getInputStream());
            for (String head = head(in); !head.isEmpty(); head = head(in)) {
                var length = LENGTH.matcher(head);
                in.skipNBytes(length.find() ? Long.parseLong(length.group(1)) : 0);
                String line = head.substring(0, head.indexOf(" HTTP/1.1"));
                byte[] body = (name + " " + line).getBytes(StandardCharsets.ISO_8859_1);
                String answer = "HTTP/1.1 200 OK\r\nX-Upstream: " + name + "\r\nContent-Length: "
                        + body.length + "\r\n\r\n";
                socket.getOutputStream().write(answer.getBytes(StandardCharsets.ISO_8859_1));
                if (!line.startsWith("HEAD ")) {
                    socket.getOutputStream().write(body);
                }
            }
        } catch (IOException e) {
            // whoever asked is gone
        }
    }

    /** Up to the empty line; empty: there is none. */
    private static String head(InputStream in) throws IOException {
        StringBuilder head = new StringBuilder();
        for (int b = in.read(); b >= 0; b = in.read()) {
            head.append((char) b);
            if (head.length() >= 4 && head.substring(head.length() - 4).equals("\r\n\r\n")) {
                return head.toString();
            }
        }
        return "";
    }

    @Override
    public void close() throws IOException {
        for (ServerSocket listener : listeners) {
            listener.close();
        }
    }
}
