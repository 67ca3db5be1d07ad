package dev.culvert.launcher.demo;

import dev.culvert.config.HostPort;
import java.nio.file.Path;

/**
 * The commands that the demo prints, to paste into another terminal.
 *
 * @param culvert how the user calls the program
 */
record PasteLines(HostPort edge, HostPort admin, String host, String platformHost, Path ca, Path folder,
        String culvert) {

    String text() {
        String target = host + ":" + edge.port();
        String curl = "curl -sS --cacert " + ca + " --resolve " + target + ":127.0.0.1 ";
        String url = "https://" + target;
        return """
                Culvert's demo runs. Paste into another terminal:

                # the App-Proxy, through edge, tunnel and router
                %1$s%2$s/app-proxy/api/info

                # what a user of the control plane may do through it: list repositories, commit a file, terminate a workflow
                %1$s%7$s '%8$s'
                %1$s%7$s '%9$s'; git --git-dir %6$s/git/demo.git log -1 --stat main
                %1$s%7$s '%10$s'

                # the control plane, through the edge's host for the platform
                curl -sS --cacert %3$s --resolve %11$s:127.0.0.1 https://%11$s/api/ping

                # git, into the demo's own folder; the old clone goes first, so the line can be repeated
                rm -rf %6$s/clone; GIT_SSL_CAINFO=%3$s git -c http.curloptResolve=%4$s:127.0.0.1 clone %2$s/app-proxy/git/demo.git %6$s/clone

                # events of workflows, as they happen
                %1$s-N %2$s/workflows/api/v1/workflow-events/demo

                # an upload, answered with its SHA-256
                head -c 10000000 /dev/urandom | tee %6$s/upload | sha256sum; %1$s-T %6$s/upload %2$s/workflows/upload

                # a WebSocket: "101 Switching Protocols" is success; curl can't go on from there and ends after 2 s with exit code 28
                # (a WebSocket client gets its own messages back from wss://%4$s/workflows/ws/echo)
                %1$s-i -N --max-time 2 --http1.1 -H 'Connection: Upgrade' -H 'Upgrade: websocket' -H 'Sec-WebSocket-Version: 13' -H 'Sec-WebSocket-Key: Y3VsdmVydCBkZW1vIGtleQ==' %2$s/workflows/ws/echo

                # a webhook, and what the event source has got
                %1$s-d '{"hello":"tunnel"}' -H 'Content-Type: application/json' %2$s/webhooks/demo/push/hook
                %1$s%2$s/webhooks/demo/push/received

                # the operator's side: the stored webhooks, the runtimes, and the page at http://%5$s (its token: the last line)
                %12$s webhook list --admin http://%5$s --admin-token-file %6$s/admin.token
                %12$s runtime list --admin http://%5$s --admin-token-file %6$s/admin.token
                cat %6$s/admin.token

                Ctrl-C ends the demo and removes %6$s.
                """
                .formatted(curl, url, ca, target, admin, folder, graphql(url),
                        DemoDocuments.body(DemoDocuments.REPOSITORIES),
                        DemoDocuments.body(DemoDocuments.commit("hello.txt", "Hello from the demo")),
                        DemoDocuments.body(DemoDocuments.terminate(DemoCluster.WORKFLOWS.getFirst())),
                        platformHost + ":" + edge.port(), culvert);
    }

    private String graphql(String url) {
        return "-H \"Authorization: $(cat " + DemoPlatform.userKey(folder)
                + ")\" -H 'Content-Type: application/json' "
                + url + DemoDocuments.PATH + " -d";
    }
}
