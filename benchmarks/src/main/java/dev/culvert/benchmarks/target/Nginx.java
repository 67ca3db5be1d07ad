package dev.culvert.benchmarks.target;

import dev.culvert.benchmarks.process.Program;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Processes of nginx: a master that stays in the foreground, and its workers. */
final class Nginx {
    private Nginx() {}

    /**
     * Starts nginx and waits until it listens.
     *
     * @param name the name of its folder in the test bed
     * @param servers the server and upstream blocks of its configuration
     */
    static Program start(Testbed bed, String name, int workers, int port, String servers)
            throws IOException {
        Path folder = bed.folder(name);
        // If root starts nginx, its workers would run as another user that may not read the folder. For other
        // users the directive is not allowed.
        String user = "root".equals(System.getProperty("user.name")) ? "user root;" : "";
        Path config = Files.writeString(folder.resolve("nginx.conf"),
                """
                        %3$s daemon off; worker_processes %2$d; pid %1$s/pid; error_log %1$s/err;
                        events { worker_connections 4096; }
                        http { access_log off; keepalive_requests 1000000000; keepalive_timeout 1h; ssl_session_cache off;
                        client_body_temp_path %1$s/tmp; proxy_temp_path %1$s/tmp; fastcgi_temp_path %1$s/tmp;
                        uwsgi_temp_path %1$s/tmp; scgi_temp_path %1$s/tmp;
                        %4$s
                        }
                        """
                        .formatted(folder, workers, user, servers));
        Program nginx = bed.start(folder.resolve("log"),
                List.of("nginx", "-p", folder.toString(), "-c", config.toString()));
        nginx.awaitPort(port);
        return nginx;
    }

    /** The version, such as {@code nginx version: nginx/1.22.1}. */
    static String version() {
        return Program.run(List.of("nginx", "-v")).strip();
    }
}
