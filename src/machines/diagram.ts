// The lifecycle as a Mermaid state diagram, drawn from the table: what the README shows and `errand graph --machine` prints.

/** A Mermaid state diagram of a transition table. States without exits are final. */
export function toMermaid(
  initial: string,
  transitions: Readonly<Record<string, Readonly<Record<string, string | undefined>>>>,
): string {
  const lines = ['stateDiagram-v2', `  [*] --> ${initial}`]
  for (const [from, exits] of Object.entries(transitions)) {
    const edges = Object.entries(exits)
    for (const [event, to] of edges) lines.push(`  ${from} --> ${to}: ${event}`)
    if (edges.length === 0) lines.push(`  ${from} --> [*]`)
  }
  return lines.join('\n')
}
