package dev.culvert.platform.directory;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;

/** Stands before a server of databases, and takes it away. */
final class DatabaseGate implements AutoCloseable {
    private static final String WATCHED = "INSERT INTO users";
    private static final String BEFORE_COMMIT = "SET LOCAL statement_timeout = 0";

    private final int to;
    private final ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean breaksAtCommit = new AtomicBoolean();
    private volatile boolean closed;

    /** @param hosts of the server, {@code host:port} */
    DatabaseGate(String hosts) throws IOException {
        to = Integer.parseInt(hosts.substring(hosts.indexOf(':') + 1));
        Thread.ofVirtual().start(this::accept);
    }

    String hosts() {
        return "127.0.0.1:" + listener.getLocalPort();
    }

    /** Breaks all connections, and new ones at once. */
    void shut() {
        closed = true;
        open.forEach(DatabaseGate::end);
    }

    void reopen() {
        closed = false;
    }

    /** The next COMMIT of a new user reaches the server, and its answer nobody. */
    void breakAtCommit() {
        breaksAtCommit.set(true);
    }

    private void accept() {
        while (!listener.isClosed()) {
            try {
                Socket caller = listener.accept();
                if (closed) {
                    caller.close();
                    continue;
                }
                var server = new Socket(InetAddress.getLoopbackAddress(), to);
                open.add(caller);
                open.add(server);
                var isMute = new AtomicBoolean();
                Thread.ofVirtual().start(() -> forward(caller, server, isMute));
                Thread.ofVirtual().start(() -> answer(server, caller, isMute));
            } catch (IOException e) {
                // the listener is closed, or the server is away
            }
        }
    }

    /** @param isMute whether what the server says is for nobody */
    private void forward(Socket caller, Socket server, AtomicBoolean isMute) {
        boolean isWatched = false;
        boolean isCommitNext = false;
        try (caller; server) {
            InputStream in = caller.getInputStream();
            OutputStream out = server.getOutputStream();
            byte[] bytes = new byte[64 << 10];
            for (int read = in.read(bytes); read >= 0; read = in.read(bytes)) {
                String text = new String(bytes, 0, read, StandardCharsets.ISO_8859_1);
                isMute.set(isCommitNext);
                isWatched |= text.contains(WATCHED) && breaksAtCommit.compareAndSet(true, false);
                isCommitNext |= isWatched && text.contains(BEFORE_COMMIT);
                out.write(bytes, 0, read);
                out.flush();
            }
        } catch (IOException e) {
            // one of them has left
        } finally {
            open.remove(caller);
            open.remove(server);
        }
    }

    private static void answer(Socket server, Socket caller, AtomicBoolean isMute) {
        try (caller; server) {
            InputStream in = server.getInputStream();
            OutputStream out = caller.getOutputStream();
            byte[] bytes = new byte[64 << 10];
            for (int read = in.read(bytes); read >= 0 && !isMute.get(); read = in.read(bytes)) {
                out.write(bytes, 0, read);
                out.flush();
            }
        } catch (IOException e) {
            // one of them has left
        }
    }

    private static void end(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            // it is closed
        }
    }

    @Override
    public void close() throws IOException {
        listener.close();
        shut();
    }
}
