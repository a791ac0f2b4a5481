// The README is up to date: its diagram derives from the transition table, and its first program is an example that runs.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { toMermaid } from '../src/machines/charts.ts'
import { taskEdges } from '../src/machines/task-table.ts'

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')

function block(language: string): string {
  return new RegExp(`\`\`\`${language}(?: .*)?\n([\\s\\S]*?)\n\`\`\``).exec(readme)?.[1] ?? ''
}

describe('the README', () => {
  it('the README draws the lifecycle from the transition table', () => {
    expect(block('mermaid')).toBe(toMermaid('submitted', taskEdges))
  })

  it('the README shows the program of examples/quick-start', () => {
    const program = readFileSync(new URL('../examples/quick-start/count.js', import.meta.url), 'utf8')
    expect(`${block('js')}\n`).toBe(program)
  })
})
