package dev.culvert.appproxy.commits;

import dev.culvert.appproxy.commits.CommitsSettings.SharedConfiguration;
import dev.culvert.appproxy.commits.git.Branch;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The layout of the shared configuration repository.
 *
 * @param settings the repository
 * @param runtime this runtime's name in its account
 */
record SharedConfigurationTree(SharedConfiguration settings, String runtime) {
    private static final List<String> FOLDERS = List.of("resources/all-runtimes-all-clusters",
            "resources/control-planes",
            "resources/configurations/products", "resources/configurations/promotion-flows",
            "resources/configurations/promotion-policies", "resources/configurations/promotion-templates",
            "resources/app-projects");

    Branch branch() {
        return new Branch(settings.branch());
    }

    /** The top folder; empty: the repository's root. */
    String root() {
        @Nullable
        String path = settings.path();
        return path == null ? "" : path;
    }

    /** The manifest of an Application of this runtime. */
    FilePath application(String name) {
        return below("resources/runtimes/" + runtime + "/" + name + ".yaml");
    }

    /** All required files, with their content. A file in each folder keeps the folder in Git. */
    Map<FilePath, FileContent> files(String repoUrl) {
        Map<FilePath, FileContent> files = new LinkedHashMap<>();
        Stream.concat(FOLDERS.stream(), Stream.of("resources/runtimes/" + runtime))
                .forEach(folder -> files.put(below(folder + "/.gitkeep"), FileContent.of("")));
        String yaml = Manifest.yaml(Applications.inCluster(settings.namespace(), repoUrl, branch(),
                below("resources").text(), include()));
        files.put(below("runtimes/" + runtime + "/in-cluster.yaml"), FileContent.of(yaml));
        return files;
    }

    /**
     * The parts of {@code resources} that this runtime applies. Only configuration runtimes apply the
     * account's own objects.
     */
    private String include() {
        return "{all-runtimes-all-clusters/*.yaml,control-planes/*.yaml,runtimes/" + runtime
                + "/*.yaml,app-projects/*.yaml"
                + (settings.configurationRuntime() ? ",configurations/**/*.yaml" : "") + "}";
    }

    private FilePath below(String path) {
        return new FilePath(root().isEmpty() ? path : root() + "/" + path);
    }
}
