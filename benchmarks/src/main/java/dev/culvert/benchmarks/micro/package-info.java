/** JMH benchmarks of single steps: {@code java -cp 'benchmarks/target/dist/lib/*' org.openjdk.jmh.Main}. */
@NullMarked
package dev.culvert.benchmarks.micro;

import org.jspecify.annotations.NullMarked;
