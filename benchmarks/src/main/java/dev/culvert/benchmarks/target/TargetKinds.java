package dev.culvert.benchmarks.target;

import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** All kinds of targets, by the names that scenario files and {@code --targets} use. */
public final class TargetKinds {
    /** The accepted names, for messages. */
    public static final String ACCEPTS = "direct, nginx1, nginx2, haproxy2, ssh, culvert, culvert-ingress or script:PATH";

    /** The upstream without a proxy. */
    public static final TargetKind DIRECT = Upstream.direct();

    private static final List<TargetKind> BUILT_IN = List.of(DIRECT, NginxTarget.of(1),
            NginxTarget.of(2), new HaproxyTarget(), new SshTarget(), CulvertTarget.withInbox(),
            new IngressTarget());

    private TargetKinds() {}

    /** The kinds that are compared where none are named. */
    public static List<TargetKind> builtIn() {
        return BUILT_IN;
    }

    /**
     * The kind of a name such as {@code nginx2} or {@code script:targets/frp.sh}; null for any other text.
     */
    public static @Nullable TargetKind named(String name) {
        if (name.startsWith(ScriptTarget.PREFIX) && name.length() > ScriptTarget.PREFIX.length()) {
            return new ScriptTarget(Path.of(name.substring(ScriptTarget.PREFIX.length())));
        }
        return BUILT_IN.stream().filter(kind -> kind.name().equals(name)).findFirst().orElse(null);
    }

    /** The same name, with the path of a script below the folder that it is relative to. */
    public static String below(Path folder, String name) {
        return name.startsWith(ScriptTarget.PREFIX)
                ? ScriptTarget.PREFIX
                        + folder.resolve(name.substring(ScriptTarget.PREFIX.length())).normalize()
                : name;
    }
}
