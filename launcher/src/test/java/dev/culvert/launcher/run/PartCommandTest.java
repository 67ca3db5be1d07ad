package dev.culvert.launcher.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.certs.CertsException;
import dev.culvert.config.ConfigBinding;
import dev.culvert.config.ConfigException;
import dev.culvert.config.HostPort;
import dev.culvert.config.Setting;
import dev.culvert.http.net.ListenException;
import dev.culvert.launcher.Captured;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import reactor.core.publisher.Mono;

class PartCommandTest {
    record Sample(@Setting(value = "where", byDefault = "127.0.0.1:0") HostPort listen) {}

    @Command(name = "sample")
    static final class SampleCommand extends PartCommand {
        private final AtomicReference<@Nullable Duration> stopped = new AtomicReference<>();
        private final Mono<RunningPart> part;

        SampleCommand(Mono<RunningPart> part) {
            super(Sample.class);
            this.part = part;
        }

        SampleCommand(Mono<Void> ended, HostPort listens) {
            super(Sample.class);
            this.part = Mono.just(new RunningPart("sample", Map.of("listen", listens), ended,
                    grace -> Mono.fromRunnable(() -> stopped.set(grace))));
        }

        @Override
        public Mono<RunningPart> start(ConfigBinding binding) {
            return part;
        }
    }

    @Test
    void theReadyLineIsRawJson() {
        var command = new SampleCommand(Mono.empty(), new HostPort("127.0.0.1", 4711));

        Captured captured = run(command, "--log-format", "json");

        assertThat(captured.exitCode()).isZero();
        assertThat(captured.out().lines())
                .contains("{\"event\":\"listening\",\"part\":\"sample\",\"listen\":\"127.0.0.1:4711\"}");
    }

    @Test
    void aStartedPartIsStoppedOnceWithTheGrace() {
        var command = new SampleCommand(Mono.empty(), new HostPort("127.0.0.1", 1));
        run(command);

        command.stop(Duration.ofSeconds(7)).block();
        assertThat(command.stopped.getAndSet(null)).isEqualTo(Duration.ofSeconds(7));
        command.stop(Duration.ofSeconds(7)).block();
        assertThat(command.stopped.get()).isNull();
    }

    @Test
    void aValueThatTurnsOutUselessIsNamedWithItsOriginAndKey() {
        var command = new SampleCommand(Mono.error(new ConfigException("listen", "another one")),
                new HostPort("127.0.0.1", 1));

        Captured captured = run(command, "--listen", "127.0.0.1:5");

        assertThat(captured.exitCode()).isEqualTo(78);
        assertThat(captured.err())
                .isEqualTo("culvert: --listen: listen: \"127.0.0.1:5\" (expected: another one)\n");
    }

    @Test
    void aFileThatCanNotBeUsedIsNamedWithItsKey() {
        var command = new SampleCommand(Mono.error(new CertsException("127.0.0.1:5: no such file")));

        Captured captured = run(command, "--listen", "127.0.0.1:5");

        assertThat(captured.exitCode()).isEqualTo(78);
        assertThat(captured.err()).isEqualTo("culvert: --listen: listen: 127.0.0.1:5: no such file\n");
    }

    @Test
    void aPartThatCanNotGoOnEndsWithItsOwnCode() {
        var command = new SampleCommand(Mono.error(new CommandException(78, "refused for good")),
                new HostPort("127.0.0.1", 1));

        Captured captured = run(command);

        assertThat(captured.exitCode()).isEqualTo(78);
        assertThat(captured.err()).isEqualTo("culvert: refused for good\n");
    }

    @Test
    void aPortInUseNamesThePortAndItsKey() throws IOException {
        try (var taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            HostPort address = new HostPort("127.0.0.1", taken.getLocalPort());

            for (Exception failure : new Exception[]{new ListenException(address, "Address already in use"),
                    new IllegalStateException(new BindException("Address already in use"))}) {
                Captured captured = run(new SampleCommand(Mono.error(failure)), "--listen",
                        address.toString());

                assertThat(captured.exitCode()).isEqualTo(69);
                assertThat(captured.err())
                        .isEqualTo("culvert: port " + address.port() + " is in use: listen is "
                                + address + " (--listen); stop what listens there, or set another address\n");
            }
        }
    }

    private static Captured run(SampleCommand command, String... args) {
        var line = new CommandLine(command);
        command.addFlags(line.getCommandSpec());
        return Captured.run(line, args);
    }
}
