package dev.culvert.relay.testing;

import dev.culvert.certs.CertificateAuthority;
import dev.culvert.certs.TlsMaterial;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;
import org.jspecify.annotations.Nullable;

/**
 * An outbound proxy on loopback, of HTTP CONNECT or SOCKS5, with a password or without. It shares no code with the client's
 * side: plain sockets and a thread for each direction. Names are resolved by it.
 */
public final class TestProxy implements AutoCloseable {
    private final ServerSocket listener;
    private final boolean socks;
    private final @Nullable String user;
    private final @Nullable String password;
    private final Queue<String> targets = new ConcurrentLinkedQueue<>();
    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();
    private volatile @Nullable String answer;
    private volatile @Nullable CertificateAuthority inspector;
    private volatile @Nullable Duration cut;
    private volatile boolean allLocal;

    private TestProxy(boolean socks, @Nullable String user, @Nullable String password) throws IOException {
        this.socks = socks;
        this.user = user;
        this.password = password;
        this.listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        Thread.ofVirtual().start(this::accept);
    }

    /** One that speaks HTTP CONNECT; it asks for user and password unless they are null. */
    public static TestProxy http(@Nullable String user, @Nullable String password) throws IOException {
        return new TestProxy(false, user, password);
    }

    /** One that speaks SOCKS5; it asks for user and password unless they are null. */
    public static TestProxy socks5(@Nullable String user, @Nullable String password) throws IOException {
        return new TestProxy(true, user, password);
    }

    /** Answers every CONNECT with this status line from now on, as {@code 403 Forbidden}. */
    public TestProxy answering(String status) {
        answer = status;
        return this;
    }

    /** Ends TLS with certificates of this authority from now on, as an inspecting proxy does. */
    public TestProxy inspecting(CertificateAuthority authority) {
        inspector = authority;
        return this;
    }

    /** Takes every name for that of this machine from now on, as a DNS of the proxy's own may. */
    public TestProxy takingEveryNameForLocal() {
        allLocal = true;
        return this;
    }

    /** Drops connections this long after they were opened, without a word in TLS. */
    public TestProxy cuttingAfter(Duration time) {
        cut = time;
        return this;
    }

    /** Where it listens on 127.0.0.1. */
    public int port() {
        return listener.getLocalPort();
    }

    /** What was asked for, {@code host:port} as it was said. */
    public List<String> targets() {
        return List.copyOf(targets);
    }

    @Override
    public void close() {
        try {
            listener.close();
            timer.shutdownNow();
            for (Socket socket : open) {
                socket.close();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Drops every connection there is, without a word in TLS. */
    public void cut() {
        open.forEach(TestProxy::close);
        open.clear();
    }

    private static void close(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void accept() {
        while (!listener.isClosed()) {
            try {
                Socket caller = listener.accept();
                open.add(caller);
                Thread.ofVirtual().start(() -> serve(caller));
            } catch (IOException e) {
                return; // closed
            }
        }
    }

    private void serve(Socket caller) {
        try (caller) {
            Socket server = socks ? socks(caller) : connect(caller);
            if (server == null) {
                return;
            }
            open.add(server);
            Duration time = cut;
            if (time != null) {
                timer.schedule(() -> close(caller), time.toMillis(), TimeUnit.MILLISECONDS);
            }
            try (server) {
                CertificateAuthority authority = inspector;
                if (authority == null) {
                    pipe(caller, server);
                } else {
                    pipe(ended(caller, authority, server.getInetAddress()), begun(server));
                }
            }
        } catch (IOException | GeneralSecurityException | InterruptedException e) {
            // One of the three went away.
        }
    }

    private @Nullable Socket connect(Socket caller) throws IOException {
        String head = head(caller.getInputStream());
        String target = head.split(" ", 3)[1];
        targets.add(target);
        OutputStream out = caller.getOutputStream();
        String wanted = "Proxy-Authorization: Basic "
                + Base64.getEncoder()
                        .encodeToString((user + ":" + password).getBytes(StandardCharsets.UTF_8));
        String status = answer;
        if (user != null && !head.toLowerCase(Locale.ROOT).contains(wanted.toLowerCase(Locale.ROOT))) {
            status = "407 Proxy Authentication Required";
        }
        if (status != null) {
            out.write(("HTTP/1.1 " + status + "\r\nContent-Length: 0\r\n\r\n")
                    .getBytes(StandardCharsets.US_ASCII));
            return null;
        }
        int colon = target.lastIndexOf(':');
        var server = new Socket(
                allLocal ? "127.0.0.1" : target.substring(0, colon).replaceAll("[\\[\\]]", ""),
                Integer.parseInt(target.substring(colon + 1)));
        out.write("HTTP/1.1 200 OK\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        return server;
    }

    private static String head(InputStream in) throws IOException {
        var head = new ByteArrayOutputStream();
        while (!head.toString(StandardCharsets.US_ASCII).endsWith("\r\n\r\n")) {
            int next = in.read();
            if (next < 0) {
                throw new IOException("no head");
            }
            head.write(next);
        }
        return head.toString(StandardCharsets.US_ASCII);
    }

    /** RFC 1928, RFC 1929. */
    private @Nullable Socket socks(Socket caller) throws IOException {
        var in = new DataInputStream(caller.getInputStream());
        OutputStream out = caller.getOutputStream();
        in.readUnsignedByte();
        List<Byte> methods = bytes(in.readNBytes(in.readUnsignedByte()));
        byte method = (byte) (user == null ? 0 : 2);
        out.write(new byte[]{5, methods.contains(method) ? method : (byte) 0xff});
        if (!methods.contains(method)) {
            return null;
        }
        if (user != null) {
            in.readUnsignedByte();
            String name = text(in);
            boolean right = name.equals(user) && text(in).equals(password);
            out.write(new byte[]{1, (byte) (right ? 0 : 1)});
            if (!right) {
                return null;
            }
        }
        in.readNBytes(3);
        String host = switch (in.readByte()) {
            case 1 -> InetAddress.getByAddress(in.readNBytes(4)).getHostAddress();
            case 4 -> "[" + InetAddress.getByAddress(in.readNBytes(16)).getHostAddress() + "]";
            default -> text(in);
        };
        int port = in.readUnsignedShort();
        targets.add(host + ":" + port);
        try {
            var server = new Socket(host.replaceAll("[\\[\\]]", ""), port);
            out.write(new byte[]{5, 0, 0, 1, 0, 0, 0, 0, 0, 0});
            return server;
        } catch (IOException e) {
            out.write(new byte[]{5, 5, 0, 1, 0, 0, 0, 0, 0, 0});
            return null;
        }
    }

    private static List<Byte> bytes(byte[] all) {
        return new String(all, StandardCharsets.ISO_8859_1).chars().mapToObj(c -> (byte) c).toList();
    }

    private static String text(DataInputStream in) throws IOException {
        return new String(in.readNBytes(in.readUnsignedByte()), StandardCharsets.UTF_8);
    }

    private static Socket ended(Socket caller, CertificateAuthority authority, InetAddress server)
            throws IOException, GeneralSecurityException {
        TlsMaterial shown = authority.issueServer(List.of("localhost"), List.of(server), Duration.ofDays(1));
        KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null, null);
        store.setKeyEntry("shown", shown.key(), new char[0], shown.chain().toArray(new X509Certificate[0]));
        KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(store, new char[0]);
        SSLContext tls = SSLContext.getInstance("TLS");
        tls.init(keys.getKeyManagers(), null, null);
        return layered(tls, caller, false);
    }

    private static Socket begun(Socket server) throws IOException, GeneralSecurityException {
        SSLContext tls = SSLContext.getInstance("TLS");
        tls.init(null, InsecureTrustManagerFactory.INSTANCE.getTrustManagers(), null);
        return layered(tls, server, true);
    }

    private static Socket layered(SSLContext tls, Socket plain, boolean client) throws IOException {
        SSLSocketFactory factory = tls.getSocketFactory();
        var socket = (SSLSocket) factory.createSocket(plain, "localhost", plain.getPort(), true);
        socket.setUseClientMode(client);
        socket.startHandshake();
        return socket;
    }

    private static void pipe(Socket caller, Socket server) throws IOException, InterruptedException {
        Thread back = Thread.ofVirtual().start(() -> copy(server, caller));
        copy(caller, server);
        back.join();
    }

    private static void copy(Socket from, Socket to) {
        try {
            from.getInputStream().transferTo(to.getOutputStream());
            to.shutdownOutput();
        } catch (IOException e) {
            try (from; to) {
                return; // both end with either
            } catch (IOException alreadyGone) {
                return;
            }
        }
    }
}
