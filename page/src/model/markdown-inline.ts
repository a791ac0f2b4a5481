// Inline Markdown as a tree of plain values: emphasis, code, links. There is no raw HTML, and the time is linear in the text.

export type Inline =
  | { kind: 'text'; text: string }
  | { kind: 'code'; text: string }
  | { kind: 'strong' | 'em' | 'del'; content: Inline[] }
  /** `href` is an absolute URL with one of `linkProtocols`. */
  | { kind: 'link'; href: string; content: Inline[] }

const linkProtocols: ReadonlySet<string> = new Set(['http:', 'https:', 'mailto:'])
const maxUrlLength = 1_000
/** Maximum depth of emphasis and links; deeper marks stay text. */
const maxDepth = 8
/** Longer runs of `*`, `_` or `~` are text: measuring them once per mark would be quadratic. */
const maxMarks = 3

/** The URL to link to; undefined for relative ones and for other protocols. */
export function safeUrl(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  return url !== undefined && linkProtocols.has(url.protocol) ? url.href : undefined
}

/** Emphasis or a link whose end has not been seen. `mark` is its opening text. */
interface Open {
  mark: string
  content: Inline[]
}

const kinds: Readonly<Record<string, 'strong' | 'em' | 'del'>> = {
  '**': 'strong',
  __: 'strong',
  '*': 'em',
  _: 'em',
  '~~': 'del',
}
const special = /[\\`*_~[\]!<]|https?:\/\//g
const escaped = /[!-/:-@[-`{-~]/
const bareUrl = /https?:\/\/[^\s<>"'`\]*|\\]+/y
const angledUrl = /<((?:https?:\/\/|mailto:)[^\s<>]{1,1000})>/y
// The target of a link may contain one pair of parentheses.
const target = /\([ \t]{0,3}<?([^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)?)>?(?:[ \t]{1,3}"[^"]*")?[ \t]{0,3}\)/y

export function inlineMarkdown(text: string): Inline[] {
  return new InlineReader(text).read()
}

class InlineReader {
  readonly #text: string
  readonly #stack: Open[] = [{ mark: '', content: [] }]
  /** Positions of runs of backticks, by their length. */
  readonly #ticks = new Map<number, number[]>()
  #at = 0

  constructor(text: string) {
    this.#text = text
    for (const run of text.matchAll(/`+/g)) {
      const known = this.#ticks.get(run[0].length)
      if (known === undefined) this.#ticks.set(run[0].length, [run.index])
      else known.push(run.index)
    }
    for (const positions of this.#ticks.values()) positions.reverse()
  }

  read(): Inline[] {
    while (this.#at < this.#text.length) {
      special.lastIndex = this.#at
      const next = special.exec(this.#text)
      const index = next?.index ?? this.#text.length
      this.#addText(this.#text.slice(this.#at, index))
      this.#at = index
      if (next !== null) this.#at = this.#take(next[0])
    }
    while (this.#stack.length > 1) this.#flatten()
    return this.#top.content
  }

  get #top(): Open {
    return this.#stack.at(-1) as Open
  }

  /** Reads what begins here and returns the position after it, like the methods below. */
  #take(found: string): number {
    switch (found) {
      case '\\':
        return this.#escape()
      case '`':
        return this.#code()
      case '[':
        return this.#open('[')
      case ']':
        return this.#closeLink()
      case '!':
        return this.#text.startsWith('![', this.#at) ? this.#open('![') : this.#literal(1)
      case '<':
        return this.#url(angledUrl)
      case '*':
      case '_':
      case '~':
        return this.#emphasis(found)
      default:
        return this.#url(bareUrl)
    }
  }

  #escape(): number {
    const next = this.#text[this.#at + 1] ?? ''
    this.#addText(escaped.test(next) ? next : `\\${next}`)
    return this.#at + 1 + next.length
  }

  #code(): number {
    const length = runLength(this.#text, this.#at)
    const closers = this.#ticks.get(length) ?? []
    while ((closers.at(-1) ?? Number.POSITIVE_INFINITY) <= this.#at) closers.pop()
    const end = closers.at(-1)
    if (end === undefined) return this.#literal(length)
    const inside = this.#text.slice(this.#at + length, end).replaceAll('\n', ' ')
    const isPadded = inside.startsWith(' ') && inside.endsWith(' ') && inside.trim() !== ''
    this.#add({ kind: 'code', text: isPadded ? inside.slice(1, -1) : inside })
    return end + length
  }

  #url(pattern: RegExp): number {
    pattern.lastIndex = this.#at
    const match = pattern.exec(this.#text)
    if (match === null || match[0].length > maxUrlLength) return this.#literal(match?.[0].length ?? 1)
    const isAngled = pattern === angledUrl
    const shown = isAngled ? (match[1] ?? '') : withoutPunctuation(match[0])
    const href = safeUrl(shown)
    if (href === undefined) return this.#literal(shown.length)
    this.#add({ kind: 'link', href, content: [{ kind: 'text', text: shown }] })
    return this.#at + shown.length + (isAngled ? 2 : 0)
  }

  #emphasis(character: string): number {
    const length = runLength(this.#text, this.#at)
    if (length > maxMarks) return this.#literal(length)
    const [before = ' ', after = ' '] = [this.#text[this.#at - 1], this.#text[this.#at + length]]
    const mayClose = !/\s/.test(before) && !(character === '_' && isWord(after))
    const mayOpen = !/\s/.test(after) && !(character === '_' && isWord(before))
    const depth = mayClose ? this.#depthOf(character, length) : -1
    if (depth > 0) {
      while (this.#stack.length > depth + 1) this.#flatten()
      const { mark, content } = this.#stack.pop() as Open
      this.#add({ kind: kinds[mark] as 'em', content })
      return this.#at + mark.length
    }
    const mark = character.repeat(length >= 2 ? 2 : 1)
    return mayOpen && mark in kinds ? this.#open(mark) : this.#literal(length)
  }

  /** The innermost open emphasis that a run of this length can close; -1 if there is none. A link in between is not crossed. */
  #depthOf(character: string, length: number): number {
    const depth = this.#stack.findLastIndex(
      ({ mark }) => mark.endsWith('[') || (mark.startsWith(character) && mark.length <= length),
    )
    return this.#stack[depth]?.mark.endsWith('[') ? -1 : depth
  }

  #open(mark: string): number {
    if (this.#stack.length > maxDepth) return this.#literal(mark.length)
    this.#stack.push({ mark, content: [] })
    return this.#at + mark.length
  }

  #closeLink(): number {
    const depth = this.#stack.findLastIndex(({ mark }) => mark.endsWith('['))
    const match = depth > 0 && this.#text[this.#at + 1] === '(' ? this.#target() : null
    if (match === null) {
      // The brackets are text, and so is emphasis that began inside them.
      while (depth > 0 && this.#stack.length > depth) this.#flatten()
      return this.#literal(1)
    }
    while (this.#stack.length > depth + 1) this.#flatten()
    const { mark, content } = this.#stack.pop() as Open
    const url = match[1] ?? ''
    const shown = withoutLinks(content.length === 0 ? [{ kind: 'text', text: url }] : content)
    const href = safeUrl(url)
    if (mark === '![') this.#addText('image: ')
    if (href !== undefined) this.#add({ kind: 'link', href, content: shown })
    else {
      for (const each of shown) this.#add(each)
      if (url !== '' && content.length > 0) this.#addText(` (${url})`)
    }
    return this.#at + 1 + match[0].length
  }

  #target(): RegExpExecArray | null {
    const rest = this.#text.slice(this.#at + 1, this.#at + 1 + maxUrlLength)
    target.lastIndex = 0
    return target.exec(rest)
  }

  /** The innermost open mark is text after all. */
  #flatten(): void {
    const { mark, content } = this.#stack.pop() as Open
    this.#addText(mark)
    for (const each of content) this.#add(each)
  }

  #literal(length: number): number {
    this.#addText(this.#text.slice(this.#at, this.#at + length))
    return this.#at + length
  }

  #addText(text: string): void {
    const last = this.#top.content.at(-1)
    if (last?.kind === 'text') last.text += text
    else if (text !== '') this.#top.content.push({ kind: 'text', text })
  }

  #add(inline: Inline): void {
    if (inline.kind === 'text') this.#addText(inline.text)
    else this.#top.content.push(inline)
  }
}

function runLength(text: string, at: number): number {
  let end = at + 1
  while (text[end] === text[at]) end++
  return end - at
}

function isWord(character: string): boolean {
  return /[\p{L}\p{N}_]/u.test(character)
}

/** Punctuation after a URL belongs to the sentence, and a closing parenthesis to the one before the URL. */
function withoutPunctuation(url: string): string {
  let end = url.length
  while (end > 0 && /[.,;:!?)]/.test(url[end - 1] as string)) {
    if (url[end - 1] === ')' && url.lastIndexOf('(', end) >= 0) break
    end--
  }
  return url.slice(0, end)
}

function withoutLinks(content: readonly Inline[]): Inline[] {
  return content.flatMap((each) => {
    if (each.kind === 'link') return withoutLinks(each.content)
    return 'content' in each ? [{ ...each, content: withoutLinks(each.content) }] : [each]
  })
}
