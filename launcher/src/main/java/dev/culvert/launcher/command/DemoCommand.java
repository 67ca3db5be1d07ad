package dev.culvert.launcher.command;

import dev.culvert.http.net.ListenException;
import dev.culvert.launcher.demo.DemoCheck;
import dev.culvert.launcher.demo.DemoPorts;
import dev.culvert.launcher.demo.DemoSystem;
import dev.culvert.launcher.run.CommandException;
import dev.culvert.launcher.run.EventLine;
import dev.culvert.launcher.run.ExitCode;
import dev.culvert.launcher.run.Task;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** {@code culvert demo}. */
@Command(name = "demo", footer = {
        "",
        "Example:", "  culvert demo --check --port-offset 100"})
final class DemoCommand implements Task.LongRunning {
    private final AtomicReference<@Nullable DemoSystem> running = new AtomicReference<>();

    @Option(names = "--check", description = "Send real traffic through every route, print a line each, end with 0 or 1.")
    private boolean check;

    @Option(names = "--port-offset", paramLabel = "N", description = "Added to the ports 8443, 7443 and 9090. Default: 0.")
    private int offset;

    @Override
    public Mono<Integer> run() {
        return Mono.defer(() -> {
            if (offset < 0 || offset > DemoPorts.MAX_OFFSET) {
                throw new CommandException(ExitCode.USAGE,
                        "--port-offset: " + offset + " (expected: 0.." + DemoPorts.MAX_OFFSET + ")");
            }
            DemoPorts ports = DemoPorts.offset(offset);
            return Mono.fromRunnable(ports::requireFree)
                    .subscribeOn(Schedulers.boundedElastic())
                    .then(DemoSystem.create(ports))
                    .doOnNext(running::set)
                    .flatMap(DemoSystem::start)
                    .onErrorMap(ListenException.class, DemoCommand::inUse)
                    .flatMap(this::serve);
        });
    }

    @Override
    public Mono<Void> stop(Duration grace) {
        DemoSystem system = running.getAndSet(null);
        return system == null ? Mono.empty() : system.stop(Duration.ZERO);
    }

    private Mono<Integer> serve(DemoSystem system) {
        if (!check) {
            System.out.println(system.pasteLines());
        }
        System.out.println(readyLine(system));
        return check ? checked(system) : Mono.never();
    }

    private Mono<Integer> checked(DemoSystem system) {
        return system.check()
                .doOnNext(result -> System.out.println(result.line()))
                .map(DemoCheck.Result::passed)
                .reduce(true, Boolean::logicalAnd)
                .map(passed -> passed ? ExitCode.DONE : ExitCode.FAILED)
                .flatMap(code -> stop(Duration.ZERO).thenReturn(code));
    }

    private static String readyLine(DemoSystem system) {
        var facts = new LinkedHashMap<String, Object>();
        facts.put("edge", system.edge());
        facts.put("admin", system.admin());
        facts.put("host", system.host());
        facts.put("ca", system.ca());
        facts.put("dir", system.folder());
        return EventLine.of("demo-ready", facts);
    }

    private static CommandException inUse(ListenException failure) {
        int port = failure.address().port();
        String what = String.valueOf(failure.getMessage());
        return new CommandException(ExitCode.UNAVAILABLE,
                (what.contains("in use") ? "port " + port + " is in use" : what)
                        + ": stop what listens there, or move all ports of the demo with --port-offset N");
    }
}
