package dev.culvert.launcher.admin;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import picocli.CommandLine.Parameters;

/** The runtime of a command: {@code ACCOUNT NAME}. */
final class RuntimeArguments {
    @Parameters(paramLabel = "ACCOUNT", index = "0", description = "The customer.")
    private String account = "";
    @Parameters(paramLabel = "NAME", index = "1", description = "The runtime's name, unique in its account.")
    private String name = "";

    String account() {
        return account;
    }

    String name() {
        return name;
    }

    /** The runtime's resource in the admin API. */
    String path() {
        return path(account, name);
    }

    /** The resource of a runtime in the admin API. */
    static String path(String account, String name) {
        return "/runtimes/" + URLEncoder.encode(account, StandardCharsets.UTF_8) + "/"
                + URLEncoder.encode(name, StandardCharsets.UTF_8);
    }

    /** {@code acme/prod}, for people. */
    @Override
    public String toString() {
        return account + "/" + name;
    }
}
