package dev.culvert.benchmarks.target;

import dev.culvert.benchmarks.process.BenchException;
import dev.culvert.benchmarks.process.Ports;
import dev.culvert.benchmarks.process.Program;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * {@code ssh}: a remote forwarding of OpenSSH ({@code ssh -R}) with its own server, configuration and keys.
 * Callers speak plain HTTP to the port that the server opens. If root starts it, sshd wants the folder {@code
 * /run/sshd}.
 */
final class SshTarget implements TargetKind {
    @Override
    public String name() {
        return "ssh";
    }

    @Override
    public List<String> programs() {
        return List.of("ssh", "sshd", "ssh-keygen");
    }

    @Override
    public String version() {
        return Program.run(List.of("ssh", "-V")).strip();
    }

    @Override
    public Target start(Testbed bed, Upstream upstream) throws IOException {
        Path folder = bed.folder(name());
        String hostKey = key(folder.resolve("host_key"));
        Testbed.secret(folder.resolve("authorized_keys"), key(folder.resolve("user_key")));
        int port = Ports.free();
        Testbed.secret(folder.resolve("known_hosts"), "[127.0.0.1]:" + port + " " + hostKey);
        Program server = server(bed, folder, port);
        int open = Ports.free();
        Program client = bed.start(folder.resolve("ssh.log"),
                List.of("ssh", "-F", "none", "-N", "-p", Integer.toString(port), "-i",
                        folder.resolve("user_key").toString(), "-o", "IdentitiesOnly=yes", "-o",
                        "BatchMode=yes", "-o", "StrictHostKeyChecking=yes", "-o",
                        "UserKnownHostsFile=" + folder.resolve("known_hosts"), "-o",
                        "ExitOnForwardFailure=yes", "-o", "ServerAliveInterval=15", "-R",
                        "127.0.0.1:" + open + ":127.0.0.1:" + upstream.port(),
                        System.getProperty("user.name") + "@127.0.0.1"));
        client.awaitPort(open);
        return new Target(name(), URI.create("http://127.0.0.1:" + open), "",
                List.of(server.pid(), client.pid()));
    }

    private static Program server(Testbed bed, Path folder, int port) throws IOException {
        Path sshd = Program.find("sshd"); // it starts itself again for each connection, by an absolute path
        if (sshd == null) {
            throw BenchException.unavailable("sshd is not on the PATH");
        }
        // The folder is private, but others may write to those above it, such as /tmp: StrictModes would
        // refuse the keys.
        Path config = Files.writeString(folder.resolve("sshd_config"), """
                Port %1$d
                ListenAddress 127.0.0.1
                HostKey %2$s/host_key
                AuthorizedKeysFile %2$s/authorized_keys
                StrictModes no
                PidFile none
                PermitRootLogin prohibit-password
                PasswordAuthentication no
                KbdInteractiveAuthentication no
                UsePAM no
                AllowTcpForwarding remote
                """.formatted(port, folder));
        Program server = bed.start(folder.resolve("sshd.log"),
                List.of(sshd.toString(), "-D", "-e", "-f", config.toString()));
        server.awaitPort(port);
        return server;
    }

    /** Makes a key file with mode 0600, and returns the line of its public key. */
    private static String key(Path file) throws IOException {
        Program.run(List.of("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "culvert-bench", "-f",
                file.toString()));
        return Files.readString(file.resolveSibling(file.getFileName() + ".pub"));
    }
}
