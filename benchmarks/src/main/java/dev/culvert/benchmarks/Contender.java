package dev.culvert.benchmarks;

import java.util.List;

/**
 * One way from the caller to the upstream.
 *
 * @param name as the table shows it
 * @param url what the load asks for
 * @param host the Host field, or empty for the URL's
 * @param programs the proxies on the way, whose CPU time counts; empty for none
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
