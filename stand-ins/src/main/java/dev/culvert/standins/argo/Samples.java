package dev.culvert.standins.argo;

import com.fasterxml.jackson.databind.node.ObjectNode;

/** Initial objects, in states that Argo's controllers produce. */
public final class Samples {
    private Samples() {}

    /** A running workflow: a DAG with one step that sleeps. */
    public static ObjectNode workflow(String namespace, String name) {
        return Crud
                .parse("""
                        {"apiVersion":"argoproj.io/v1alpha1","kind":"Workflow",
                         "metadata":{"namespace":"%1$s","name":"%2$s","generateName":"%2$s-","labels":{"team":"red","workflows.argoproj.io/phase":"Running"}},
                         "spec":{"entrypoint":"main","onExit":"tidy","templates":[{"name":"main","container":{"image":"busybox","command":["sleep","600"]}},{"name":"tidy","container":{"image":"busybox"}}]},
                         "status":{"phase":"Running","startedAt":"2026-01-01T00:00:00Z","progress":"0/1",
                          "nodes":{"%2$s":{"id":"%2$s","name":"%2$s","displayName":"%2$s","type":"DAG","phase":"Running","children":["%2$s-1"]},
                           "%2$s-1":{"id":"%2$s-1","name":"%2$s.main","displayName":"main","templateName":"main","type":"Pod","phase":"Running","boundaryID":"%2$s"}}}}
                        """
                        .formatted(namespace, name));
    }

    /** A pod of a workflow. */
    public static ObjectNode pod(String namespace, String workflow, String name) {
        return Crud.parse("""
                {"apiVersion":"v1","kind":"Pod",
                 "metadata":{"namespace":"%s","name":"%s","labels":{"workflows.argoproj.io/workflow":"%s"}},
                 "spec":{"containers":[{"name":"main"}]},"status":{"phase":"Running"}}
                """.formatted(namespace, name, workflow));
    }

    /** A pod of an application. */
    public static ObjectNode applicationPod(String namespace, String application, String name) {
        return Crud.parse("""
                {"apiVersion":"v1","kind":"Pod",
                 "metadata":{"namespace":"%s","name":"%s","labels":{"app.kubernetes.io/instance":"%s"}},
                 "spec":{"containers":[{"name":"web"}]},"status":{"phase":"Running"}}
                """.formatted(namespace, name, application));
    }

    /** A rollout that waits at the first pause of a canary with four steps. */
    public static ObjectNode rollout(String namespace, String name) {
        return Crud
                .parse("""
                        {"apiVersion":"argoproj.io/v1alpha1","kind":"Rollout",
                         "metadata":{"namespace":"%s","name":"%s","labels":{"app":"shop"}},
                         "spec":{"replicas":4,"strategy":{"canary":{"steps":[{"setWeight":25},{"pause":{}},{"setWeight":50},{"pause":{}}]}}},
                         "status":{"phase":"Paused","currentPodHash":"new","stableRS":"old","currentStepIndex":1,
                          "pauseConditions":[{"reason":"CanaryPauseStep","startTime":"2026-01-01T00:00:00Z"}],"controllerPause":true}}
                        """
                        .formatted(namespace, name));
    }

    /** A synced application that was deployed twice. */
    public static ObjectNode application(String namespace, String name) {
        return Crud
                .parse("""
                        {"apiVersion":"argoproj.io/v1alpha1","kind":"Application",
                         "metadata":{"namespace":"%s","name":"%s","labels":{"team":"red"}},
                         "spec":{"project":"default","source":{"repoURL":"https://git.example/shop.git","path":"deploy","targetRevision":"main"},
                          "destination":{"name":"in-cluster","namespace":"shop"},"syncPolicy":{"syncOptions":["CreateNamespace=true"]}},
                         "status":{"sync":{"status":"Synced","revision":"bbbb"},"health":{"status":"Healthy"},
                          "history":[{"id":0,"revision":"aaaa","source":{"repoURL":"https://git.example/shop.git","path":"deploy","targetRevision":"main"}},
                           {"id":1,"revision":"bbbb","source":{"repoURL":"https://git.example/shop.git","path":"deploy","targetRevision":"main"}}],
                          "resources":[{"version":"v1","kind":"Pod","namespace":"shop","name":"shop-1"}]}}
                        """
                        .formatted(namespace, name));
    }
}
