// The values of secrets in the output of a command are replaced anywhere, however the stream is chunked.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createCommandOutput, maxLineLength } from '../../src/commands/command-output.ts'
import { createMasks, type Secret } from '../../src/commands/secrets.ts'

function masked(secrets: Secret[], chunks: readonly Buffer[]): string {
  const mask = createMasks(secrets)?.()
  if (mask === undefined) return Buffer.concat(chunks).toString()
  return Buffer.concat([...chunks.map((chunk) => mask.push(chunk)), mask.finish()]).toString()
}

const inOne = (secrets: Secret[], text: string): string => masked(secrets, [Buffer.from(text)])
const key = { name: 'KEY', value: 'abab-cd' }

describe('the secret mask of a command', () => {
  it('the secret mask of a command replaces every value of a secret by its name and leaves the rest', () => {
    expect(inOne([key], 'x abab-cdabab-cd y ababab-cd z')).toBe('x [secret KEY][secret KEY] y ab[secret KEY] z')
    expect(inOne([{ name: 'K', value: 'größe€' }], 'eine größe€!')).toBe('eine [secret K]!')
    expect(inOne([{ name: 'K', value: '$&.*' }], '$& $&.* .*')).toBe('$& [secret K] .*')
  })

  it('the secret mask of a command replaces the longer of two secrets with the same beginning', () => {
    const secrets = [
      { name: 'SHORT', value: 'secret' },
      { name: 'LONG', value: 'secret-long' },
    ]
    expect(inOne(secrets, 'secret-long secret-lo secret')).toBe('[secret LONG] [secret SHORT]-lo [secret SHORT]')
  })

  it('the secret mask of a command also replaces the single lines of a key of several lines', () => {
    const pem = { name: 'PEM', value: '-----BEGIN-----\nMIIabcdef\n}\n' }
    expect(inOne([pem], `"${pem.value}"`)).toBe('"[secret PEM]"')
    expect(inOne([pem], '  -----BEGIN-----\n  MIIabcdef\n}')).toBe('  [secret PEM]\n  [secret PEM]\n}')
  })

  it('V-10 the secret mask of a command replaces a secret that is too long for a pattern', () => {
    const long = { name: 'LONG', value: 'k'.repeat(100_000) }
    const lines = { name: 'LINES', value: Array.from({ length: 5_000 }, (_, n) => `line ${n}`).join('\n') }
    expect(inOne([long, lines], `a ${long.value} b ${lines.value} c`)).toBe('a [secret LONG] b [secret LINES] c')
  })

  it('the secret mask of a command does not replace a value that is too short to be a secret', () => {
    expect(createMasks([{ name: 'K', value: 'abc' }])).toBeUndefined()
    expect(createMasks([])).toBeUndefined()
  })

  it('the secret mask of a command holds back only the possible beginning of a secret', () => {
    const mask = createMasks([key])?.()
    expect(mask?.push(Buffer.from('line\nab')).toString()).toBe('line\n')
    expect(mask?.push(Buffer.from('ab!\n')).toString()).toBe('abab!\n')
    expect(mask?.push(Buffer.from('abab-')).toString()).toBe('')
    expect(mask?.finish().toString()).toBe('abab-')
  })

  it('the secret mask of a command masks the same however the stream is chunked', () => {
    const secrets = ['abab', 'ababc', 'bcab', 'aaaa', 'cabcabc'].map((value) => ({ name: value.toUpperCase(), value }))
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '-'), maxLength: 80 })
    fc.assert(
      fc.property(text, fc.array(fc.nat(80), { maxLength: 10 }), (printed, cuts) => {
        const bytes = Buffer.from(printed)
        const places = [0, ...cuts.filter((cut) => cut < bytes.length).sort((a, b) => a - b), bytes.length]
        const chunks = places.slice(1).map((end, index) => bytes.subarray(places[index], end))
        expect(masked(secrets, chunks)).toBe(masked(secrets, [bytes]))
        for (const { value } of secrets) {
          if (value.length > 4 || !printed.includes(value)) continue
          expect(masked(secrets, chunks).replaceAll(/\[secret \w+\]/g, '|')).not.toContain(value)
        }
      }),
    )
  })

  it('the secret mask of a command masks before long lines are split and the tail is cut', () => {
    const emitted: string[] = []
    const { stdout } = createCommandOutput((text) => emitted.push(text), [key])
    stdout.push(Buffer.from(`${'x'.repeat(maxLineLength - 3)}abab`))
    stdout.push(Buffer.from('-cd\n'))
    stdout.finish()
    expect(stdout.text()).toBe(`${'x'.repeat(maxLineLength - 3)}[secret KEY]\n`)
    expect(emitted.join('')).not.toContain('abab')
  })
})
