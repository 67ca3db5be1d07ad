package dev.culvert.benchmarks;

import java.util.List;

/**
 * One path from the caller to the upstream.
 *
 * @param name the name in the table
 * @param url the URL that the load requests
 * @param host the Host field, or empty for the URL's
 * @param programs the proxies on the path, whose CPU time is measured; empty for none
 */
record Contender(String name, String url, String host, List<Program> programs) implements AutoCloseable {

    Cpu cpu() {
        return Cpu.of(programs.stream().flatMap(program -> Cpu.tree(program.pid()).stream()).toList());
    }

    @Override
    public void close() {
        programs.forEach(Program::close);
    }
}
