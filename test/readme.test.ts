// The README is up to date: its first program is an example that runs.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')

function block(language: string): string {
  return new RegExp(`\`\`\`${language}(?: .*)?\n([\\s\\S]*?)\n\`\`\``).exec(readme)?.[1] ?? ''
}

describe('the README', () => {
  it('the README shows the program of examples/quick-start', () => {
    const program = readFileSync(new URL('../examples/quick-start/count.js', import.meta.url), 'utf8')
    expect(`${block('js')}\n`).toBe(program)
  })
})
