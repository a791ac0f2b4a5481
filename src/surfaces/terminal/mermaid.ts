// Mermaid flowcharts of tasks: tasks are boxes, groups are frames, and arrows lead from a task to those that wait for it.

export interface GraphNode {
  id: string
  label: string
  /** Drawn as a frame around its children. */
  group: boolean
  parent: string | null
  /** Ids of the nodes that it waits for. */
  after: readonly string[]
  /** Colours the box. */
  status?: string
}

const colors: Readonly<Record<string, string>> = {
  completed: 'fill:#d3f2d6,stroke:#2c7a34,color:#10331a',
  failed: 'fill:#f9d7d5,stroke:#a5281f,color:#43100c',
  canceled: 'fill:#e6e6e6,stroke:#777777,color:#333333',
  working: 'fill:#d5e8fb,stroke:#2266aa,color:#0d2a45',
  input_required: 'fill:#fbeec8,stroke:#a87b12,color:#463407',
}

export function toFlowchart(nodes: readonly GraphNode[]): string {
  const names = new Map(nodes.map((node, index) => [node.id, `t${index}`]))
  const inside = Map.groupBy(nodes, ({ parent }) => (parent !== null && names.has(parent) ? parent : null))
  const boxesIn = (parent: string | null, indent: string): string[] =>
    (inside.get(parent) ?? []).flatMap((node) => {
      const box = `${names.get(node.id)}["${escapeLabel(node.label)}"]`
      if (!node.group) return [`${indent}${box}${classOf(node)}`]
      return [`${indent}subgraph ${box}`, ...boxesIn(node.id, `${indent}  `), `${indent}end`]
    })
  const arrows = nodes.flatMap(({ id, after }) =>
    after.filter((blocker) => names.has(blocker)).map((blocker) => `  ${names.get(blocker)} --> ${names.get(id)}`),
  )
  const used = new Set(nodes.filter((node) => !node.group).map((node) => node.status))
  const styles = Object.entries(colors).filter(([status]) => used.has(status))
  const classes = styles.map(([status, style]) => `  classDef ${status} ${style}`)
  return ['flowchart LR', ...boxesIn(null, '  '), ...arrows, ...classes].join('\n')
}

function classOf({ status }: GraphNode): string {
  return status !== undefined && Object.hasOwn(colors, status) ? `:::${status}` : ''
}

/** Writes characters that could end or change a label, which Mermaid reads as HTML, as entity codes. */
function escapeLabel(text: string): string {
  return text.replace(/["#&<>[\]{}|`\\]/g, (character) => `#${character.codePointAt(0)};`)
}
