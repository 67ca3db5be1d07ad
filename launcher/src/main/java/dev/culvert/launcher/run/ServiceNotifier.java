package dev.culvert.launcher.run;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Notifies the service manager that started this process, as sd_notify(3) does: one datagram to the Unix
 * socket that {@code NOTIFY_SOCKET} names. Without that variable nothing is loaded and nothing sent. Java has
 * no Unix datagram sockets of its own, so this calls the C library. A failed notification is logged, because
 * the service manager then ends the process for being late.
 */
final class ServiceNotifier {
    private static final Logger LOG = LoggerFactory.getLogger(ServiceNotifier.class);

    private static final int AF_UNIX = 1;
    /** SOCK_DGRAM with SOCK_CLOEXEC, on Linux. */
    private static final int DATAGRAM = 2 | 0x80000;
    /** The bytes of {@code sun_path} in {@code sockaddr_un}. */
    private static final int PATH_BYTES = 108;

    private final @Nullable String address;

    /**
     * Makes the notifier of one process.
     *
     * @param address an absolute path, or {@code @} and an abstract name; null: nothing is sent
     */
    ServiceNotifier(@Nullable String address) {
        this.address = address;
    }

    /** The notifier for the environment of this process. */
    static ServiceNotifier ofEnvironment() {
        return new ServiceNotifier(System.getenv("NOTIFY_SOCKET"));
    }

    /** The part accepts what it is for. */
    void ready() {
        send("READY=1");
    }

    /** The part drains. */
    void stopping() {
        send("STOPPING=1");
    }

    private void send(String state) {
        if (address == null || address.isEmpty()) {
            return;
        }
        try {
            int sent = sendTo(address, state.getBytes(StandardCharsets.US_ASCII));
            if (sent != state.length()) {
                throw new IllegalStateException("the socket takes no datagram");
            }
        } catch (Throwable e) { // what invoking a native function declares
            LOG.atWarn()
                    .addKeyValue("state", state)
                    .addKeyValue("error", e.getMessage())
                    .log("service manager not notified");
        }
    }

    private static int sendTo(String address, byte[] state) throws Throwable {
        byte[] path = address.getBytes(StandardCharsets.UTF_8);
        if (path.length >= PATH_BYTES) {
            throw new IllegalArgumentException("NOTIFY_SOCKET is longer than " + (PATH_BYTES - 1) + " bytes");
        }
        if (path[0] == '@') {
            path[0] = 0;
        }
        var integer = ValueLayout.JAVA_INT;
        MethodHandle socket = function("socket", FunctionDescriptor.of(integer, integer, integer, integer));
        MethodHandle sendTo = function("sendto", FunctionDescriptor.of(ValueLayout.JAVA_LONG, integer,
                ValueLayout.ADDRESS, ValueLayout.JAVA_LONG, integer, ValueLayout.ADDRESS, integer));
        MethodHandle close = function("close", FunctionDescriptor.of(integer, integer));
        try (Arena memory = Arena.ofConfined()) {
            MemorySegment to = memory.allocate(Short.BYTES + PATH_BYTES);
            to.set(ValueLayout.JAVA_SHORT, 0, (short) AF_UNIX);
            MemorySegment.copy(path, 0, to, ValueLayout.JAVA_BYTE, Short.BYTES, path.length);
            MemorySegment bytes = memory.allocateFrom(ValueLayout.JAVA_BYTE, state);
            int descriptor = (int) socket.invokeExact(AF_UNIX, DATAGRAM, 0);
            if (descriptor < 0) {
                throw new IllegalStateException("no socket could be made");
            }
            try {
                return (int) (long) sendTo.invokeExact(descriptor, bytes, (long) state.length, 0, to,
                        Short.BYTES + path.length);
            } finally {
                int _ = (int) close.invokeExact(descriptor);
            }
        }
    }

    @SuppressWarnings("restricted") // three functions of the C library, which are always there
    private static MethodHandle function(String name, FunctionDescriptor shape) {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(linker.defaultLookup().findOrThrow(name), shape);
    }
}
