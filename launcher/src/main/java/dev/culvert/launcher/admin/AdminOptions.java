package dev.culvert.launcher.admin;

import dev.culvert.launcher.run.CommandException;
import dev.culvert.launcher.run.ExitCode;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import javax.net.ssl.SSLSocketFactory;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options that name an admin API, the token for it, and the authorities that it is trusted by. */
public final class AdminOptions {
    private static final int UNAUTHORIZED = 401;
    private static final String VARIABLE = "CULVERT_ADMIN";

    @Option(names = "--admin", paramLabel = "URL", description = "The admin API (CULVERT_ADMIN). Default: http://127.0.0.1:9090.")
    private @Nullable URI admin;

    @Option(names = "--admin-token-file", paramLabel = "FILE", description = "File of its bearer token (CULVERT_ADMIN_TOKEN_FILE). Default: admin.token.")
    private @Nullable Path tokenFile;

    @Option(names = "--admin-ca", paramLabel = "FILE", description = "PEM file of the authorities of an https admin API (CULVERT_ADMIN_CA). Default: the public ones.")
    private @Nullable Path authorities;

    /**
     * The exit code of a status. A token that the server refuses is a configuration error, like a file
     * without a token.
     */
    public static int exitCode(int status) {
        if (status == UNAUTHORIZED) {
            return ExitCode.CONFIG;
        }
        return status / 100 == 2 ? ExitCode.DONE : status < 500 ? ExitCode.FAILED : ExitCode.UNAVAILABLE;
    }

    /** A client of the admin API that the options name, else the environment. */
    public AdminClient api(Map<String, String> environment) {
        return new AdminClient(address(admin, environment), token(environment), tls(environment));
    }

    /** The address of the flag, else of the environment, else that of a server on this machine. */
    static URI address(@Nullable URI flag, Map<String, String> environment) {
        if (flag != null) {
            return HttpAddress.checked("--admin", flag);
        }
        String given = environment.getOrDefault(VARIABLE, "http://127.0.0.1:9090");
        try {
            return HttpAddress.checked(VARIABLE, URI.create(given));
        } catch (IllegalArgumentException e) {
            throw HttpAddress.wrong(VARIABLE, given);
        }
    }

    private @Nullable SSLSocketFactory tls(Map<String, String> environment) {
        String named = environment.get("CULVERT_ADMIN_CA");
        Path file = authorities != null || named == null ? authorities : Path.of(named);
        try {
            return file == null ? null : AuthorityFile.trusting(file).getSocketFactory();
        } catch (IOException e) {
            throw new CommandException(ExitCode.USAGE,
                    "--admin-ca: " + file + " can't be used (expected: a PEM file of authorities)");
        }
    }

    private String token(Map<String, String> environment) {
        Path path = tokenFile != null
                ? tokenFile
                : Path.of(environment.getOrDefault("CULVERT_ADMIN_TOKEN_FILE", "admin.token"));
        try {
            String token = Files.readString(path).strip();
            if (token.isEmpty() || !token.chars().allMatch(c -> c > ' ' && c < 127)) {
                throw new CommandException(ExitCode.CONFIG,
                        path + ": holds no token (expected: one line, as the server wrote it)");
            }
            return token;
        } catch (IOException e) {
            throw new CommandException(ExitCode.USAGE, "no admin token: " + path
                    + " can't be read (--admin-token-file or CULVERT_ADMIN_TOKEN_FILE names the server's admin.tokenFile)");
        }
    }
}
