package dev.culvert.launcher;

import dev.culvert.certs.CertsException;
import dev.culvert.client.identity.EnrolmentException;
import dev.culvert.config.ConfigErrors;
import dev.culvert.config.ConfigException;
import dev.culvert.http.net.ListenException;
import dev.culvert.launcher.admin.AdminUnreachable;
import dev.culvert.launcher.demo.DemoException;
import dev.culvert.launcher.run.CommandException;
import dev.culvert.launcher.run.ExitCode;
import dev.culvert.store.StoreException;
import java.net.BindException;
import java.net.ConnectException;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reports the failure of a task to the user and selects the exit code. */
final class Failures {
    private Failures() {}

    /** Prints on standard error. A stack trace is printed only for failures that no user can cause. */
    static int report(Throwable failure) {
        return switch (failure) {
            case ConfigErrors errors -> tell(ExitCode.CONFIG, errors.errors());
            case ConfigException wrong -> tell(ExitCode.CONFIG, List.of(String.valueOf(wrong.getMessage())));
            case CertsException certs -> tell(ExitCode.CONFIG, List.of(String.valueOf(certs.getMessage())));
            case EnrolmentException.Refused refused ->
                tell(ExitCode.CONFIG, List.of(String.valueOf(refused.getMessage())));
            case StoreException.Held held ->
                tell(ExitCode.UNAVAILABLE, List.of(String.valueOf(held.getMessage())));
            case StoreException store -> tell(ExitCode.CONFIG, List.of(String.valueOf(store.getMessage())));
            case DemoException demo -> tell(ExitCode.FAILED, List.of(String.valueOf(demo.getMessage())));
            case CommandException ended ->
                tell(ended.exitCode(), List.of(String.valueOf(ended.getMessage())));
            case ListenException listen ->
                tell(ExitCode.UNAVAILABLE, List.of(String.valueOf(listen.getMessage())));
            case AdminUnreachable gone ->
                tell(ExitCode.UNAVAILABLE, List.of(String.valueOf(gone.getMessage())));
            case BindException bind -> tell(ExitCode.UNAVAILABLE, List.of(String.valueOf(bind.getMessage())));
            case ConnectException refused ->
                tell(ExitCode.UNAVAILABLE, List.of(String.valueOf(refused.getMessage())));
            default -> bug(failure);
        };
    }

    private static int tell(int code, List<String> lines) {
        lines.forEach(line -> System.err.println("culvert: " + line));
        return code;
    }

    private static int bug(Throwable failure) {
        Bug.LOG.atError().setCause(failure).log("the command failed unexpectedly; please report this");
        return ExitCode.FAILED;
    }

    /** Loads the logging framework, which no other failure needs. */
    private static final class Bug {
        static final Logger LOG = LoggerFactory.getLogger(Failures.class);
    }
}
