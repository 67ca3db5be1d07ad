package dev.culvert.appproxy.commits.git;

import java.util.concurrent.atomic.AtomicBoolean;
import org.eclipse.jgit.lib.Config;
import org.eclipse.jgit.storage.file.FileBasedConfig;
import org.eclipse.jgit.util.FS;
import org.eclipse.jgit.util.SystemReader;
import org.jspecify.annotations.Nullable;

/**
 * JGit as a service needs it: deaf to the configuration files and variables of whoever runs the process, none of which it
 * writes either; what it stores is on the disk before it counts.
 */
public final class JGitSetup {
    private static final AtomicBoolean DONE = new AtomicBoolean();

    private JGitSetup() {}

    /** Sets JGit up, for the whole process; all calls but the first do nothing. */
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
            // nothing of this outlives the process
        }

        @Override
        public boolean isOutdated() {
            return false;
        }
    }
}
