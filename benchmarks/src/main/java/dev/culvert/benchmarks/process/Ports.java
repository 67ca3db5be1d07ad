package dev.culvert.benchmarks.process;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;

/** TCP ports on 127.0.0.1, for programs that can't pick a free one themselves. */
public final class Ports {
    private static final int CONNECT_MILLIS = 1000;

    private Ports() {}

    /** A port on which nothing listens now. Another program may take it before its user does. */
    public static int free() throws IOException {
        return free(1).getFirst();
    }

    /** Several different free ports. */
    public static List<Integer> free(int count) throws IOException {
        List<ServerSocket> open = new ArrayList<>();
        try {
            for (int i = 0; i < count; i++) {
                open.add(new ServerSocket(0, 1, InetAddress.getLoopbackAddress()));
            }
            return open.stream().map(ServerSocket::getLocalPort).toList();
        } finally {
            for (ServerSocket socket : open) {
                socket.close();
            }
        }
    }

    /** Whether a listener accepts connections. */
    static boolean accepts(int port) {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), CONNECT_MILLIS);
            return true;
        } catch (IOException e) {
            return false;
        }
    }
}
