package dev.culvert.launcher.run;

import dev.culvert.config.ConfigBinding;
import dev.culvert.config.HostPort;
import dev.culvert.http.net.ListenException;
import dev.culvert.store.StoreException;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.Optional;

/** Converts a bind error to a message that names the port and its configuration key. */
final class BindErrorHint {
    private BindErrorHint() {}

    /** Returns the message, or the failure itself if it is not a bind error. */
    static Throwable explain(Throwable failure, ConfigBinding binding) {
        Throwable cause = failure;
        while (!concernsPorts(cause)) {
            if (cause.getCause() == null) {
                return failure;
            }
            cause = cause.getCause();
        }
        String reason = String.valueOf(cause.getMessage());
        Optional<ConfigBinding.Effective> guilty = guilty(cause, binding);
        if (guilty.isEmpty() && cause instanceof StoreException) {
            return failure;
        }
        return guilty.map(entry -> at(entry, reason))
                .orElseGet(() -> new CommandException(ExitCode.UNAVAILABLE, reason));
    }

    /**
     * Whether the failure may concern ports. A second server with the same data folder fails before it binds
     * its ports.
     */
    private static boolean concernsPorts(Throwable cause) {
        return cause instanceof ListenException || cause instanceof BindException
                || cause instanceof StoreException;
    }

    private static Optional<ConfigBinding.Effective> guilty(Throwable cause, ConfigBinding binding) {
        var listeners = binding.effective()
                .stream()
                .filter(entry -> entry.key().equals("listen") || entry.key().endsWith(".listen"))
                .toList();
        if (cause instanceof ListenException listen) {
            return listeners.stream()
                    .filter(entry -> entry.value().equals(listen.address().toString()))
                    .findFirst();
        }
        return listeners.stream().filter(entry -> taken(HostPort.parse(entry.value()))).findFirst();
    }

    private static CommandException at(ConfigBinding.Effective entry, String reason) {
        HostPort address = HostPort.parse(entry.value());
        String what = taken(address) ? "port " + address.port() + " is in use" : reason;
        return new CommandException(ExitCode.UNAVAILABLE, what + ": " + entry.key() + " is " + address + " ("
                + entry.origin() + "); stop what listens there, or set another address");
    }

    /**
     * Whether a listener can't bind the address now. The failure itself does not state which address was
     * refused.
     */
    private static boolean taken(HostPort address) {
        try (var socket = new ServerSocket()) {
            socket.bind(new InetSocketAddress(InetAddress.getByName(address.host()), address.port()));
            return false;
        } catch (BindException e) {
            return String.valueOf(e.getMessage()).contains("in use");
        } catch (IOException e) {
            return false;
        }
    }
}
