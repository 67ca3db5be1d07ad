package dev.culvert.appproxy.commits.git;

import java.util.concurrent.atomic.AtomicBoolean;
import org.eclipse.jgit.lib.Config;
import org.eclipse.jgit.storage.file.FileBasedConfig;
import org.eclipse.jgit.util.FS;
import org.eclipse.jgit.util.SystemReader;
import org.jspecify.annotations.Nullable;

/**
 * Sets up JGit for a service. JGit neither reads nor writes the configuration files of the user that runs the
 * process, and ignores its environment variables. Stored objects are on the disk before they are referenced.
 */
public final class JGitSetup {
    private static final AtomicBoolean DONE = new AtomicBoolean();

    private JGitSetup() {}

    /** Sets up JGit for the whole process. Only the first call has an effect. */
    public static void once() {
        if (DONE.compareAndSet(false, true)) {
            SystemReader.setInstance(new OwnSettings(SystemReader.getInstance()));
        }
    }

    private static final class OwnSettings extends SystemReader.Delegate {
        OwnSettings(SystemReader system) {
            super(system);
        }

        @Override
        public @Nullable String getenv(String variable) {
            return null;
        }

        @Override
        public FileBasedConfig openUserConfig(Config parent, FS fs) {
            return new Unsaved(parent, fs);
        }

        @Override
        public FileBasedConfig openSystemConfig(Config parent, FS fs) {
            return new Unsaved(parent, fs);
        }

        @Override
        public FileBasedConfig openJGitConfig(Config parent, FS fs) {
            return new Unsaved(parent, fs);
        }
    }

    /** Settings without a file. */
    private static final class Unsaved extends FileBasedConfig {
        Unsaved(Config parent, FS fs) {
            super(parent, null, fs);
            setBoolean("core", null, "fsyncObjectFiles", true);
            setBoolean("core", null, "fsyncRefFiles", true);
            // A redirect to another host must not see the user's token.
            setString("http", null, "followRedirects", "false");
        }

        @Override
        public void load() {
            // there is nothing to read
        }

        @Override
        public void save() {
            // these settings do not outlive the process
        }

        @Override
        public boolean isOutdated() {
            return false;
        }
    }
}
