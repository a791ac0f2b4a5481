// The README is up to date: its diagram derives from the machine of a task, and its first program is an example that runs.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { toMermaid } from '../src/machines/drawing.ts'
import { taskMachine } from '../src/machines/task-machine.ts'

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')

function block(language: string): string {
  return new RegExp(`\`\`\`${language}(?: .*)?\n([\\s\\S]*?)\n\`\`\``).exec(readme)?.[1] ?? ''
}

describe('the README', () => {
  it('the README draws the lifecycle from the machine of a task', () => {
    expect(block('mermaid')).toBe(toMermaid(taskMachine))
  })

  it('the README shows the program of examples/quick-start', () => {
    const program = readFileSync(new URL('../examples/quick-start/count.js', import.meta.url), 'utf8')
    expect(`${block('js')}\n`).toBe(program)
  })
})
