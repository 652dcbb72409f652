#include "src/result/picture/canvas.h"

#include <cmath>
#include <filesystem>
#include <numbers>

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <cairo.h>

#include "src/result/durable_file.h"

namespace cornerturn {
namespace {

struct DestroySurface {
  void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
};
struct DestroyContext {
  void operator()(cairo_t* context) const { cairo_destroy(context); }
};
using Surface = std::unique_ptr<cairo_surface_t, DestroySurface>;
using Context = std::unique_ptr<cairo_t, DestroyContext>;

cairo_status_t append_bytes(void* target, const unsigned char* data, unsigned int size) {
  auto& bytes = *static_cast<std::vector<std::byte>*>(target);
  const auto* begin = reinterpret_cast<const std::byte*>(data);
  bytes.insert(bytes.end(), begin, begin + size);
  return CAIRO_STATUS_SUCCESS;
}

constexpr const char* kFont = "DejaVu Sans";
constexpr Colour kHalo{0.05, 0.05, 0.10};

}  // namespace

struct Canvas::State {
  std::string path;
  bool png = false;
  std::vector<std::byte> bytes;  // outlives the surface, which writes into it
  Surface surface;
  Context context;

  cairo_t* cairo() const { return context.get(); }
  void set_colour(const Colour& colour) const { cairo_set_source_rgb(cairo(), colour.red, colour.green, colour.blue); }
  void set_font(const TextStyle& style) const {
    cairo_select_font_face(cairo(), kFont, CAIRO_FONT_SLANT_NORMAL,
                           style.bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(cairo(), style.size);
  }
};

Canvas::Canvas(std::unique_ptr<State> state) : state_(std::move(state)) {}
Canvas::Canvas(Canvas&&) noexcept = default;
Canvas& Canvas::operator=(Canvas&&) noexcept = default;
Canvas::~Canvas() = default;
Canvas::Clip::~Clip() { cairo_restore(state_->cairo()); }

Expected<Canvas> Canvas::open(const std::string& path, double width, double height) {
  auto state = std::make_unique<State>();
  state->path = path;
  const std::string ending = std::filesystem::path(path).extension().string();
  if (ending == ".png") {
    state->png = true;
    state->surface.reset(cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(width * kPixelsPerUnit),
                                                    static_cast<int>(height * kPixelsPerUnit)));
  } else if (ending == ".svg") {
    state->surface.reset(cairo_svg_surface_create_for_stream(append_bytes, &state->bytes, width, height));
  } else if (ending == ".pdf") {
    state->surface.reset(cairo_pdf_surface_create_for_stream(append_bytes, &state->bytes, width, height));
  } else {
    return usage_error(path, "is no kind of picture", "use .png, .svg or .pdf");
  }
  state->context.reset(cairo_create(state->surface.get()));
  if (const cairo_status_t status = cairo_status(state->cairo()); status != CAIRO_STATUS_SUCCESS)
    return runtime_error(path, std::string("no page can be made: ") + cairo_status_to_string(status));
  if (state->png) cairo_scale(state->cairo(), kPixelsPerUnit, kPixelsPerUnit);
  Canvas canvas(std::move(state));
  canvas.fill({0.0, 0.0, width, height}, {1.0, 1.0, 1.0});
  return canvas;
}

void Canvas::fill(const Box& box, const Colour& colour) {
  state_->set_colour(colour);
  cairo_rectangle(state_->cairo(), box.x, box.y, box.width, box.height);
  cairo_fill(state_->cairo());
}

void Canvas::frame(const Box& box, const Colour& colour, double line_width) {
  state_->set_colour(colour);
  cairo_set_line_width(state_->cairo(), line_width);
  cairo_rectangle(state_->cairo(), box.x, box.y, box.width, box.height);
  cairo_stroke(state_->cairo());
}

void Canvas::line(std::span<const Point> points, const Colour& colour, double line_width) {
  state_->set_colour(colour);
  cairo_set_line_width(state_->cairo(), line_width);
  cairo_set_line_join(state_->cairo(), CAIRO_LINE_JOIN_ROUND);
  cairo_new_path(state_->cairo());
  for (const Point& point : points) cairo_line_to(state_->cairo(), point.x, point.y);
  cairo_stroke(state_->cairo());
}

void Canvas::circle(Point centre, double radius, const Colour& colour, double line_width) {
  state_->set_colour(colour);
  cairo_set_line_width(state_->cairo(), line_width);
  cairo_new_path(state_->cairo());
  cairo_arc(state_->cairo(), centre.x, centre.y, radius, 0.0, 2.0 * std::numbers::pi);
  cairo_stroke(state_->cairo());
}

void Canvas::image(const PixelImage& image, const Box& box) {
  const auto width = static_cast<int>(image.width);
  const auto height = static_cast<int>(image.height);
  const Surface picture(cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height));
  const auto stride = static_cast<std::size_t>(cairo_image_surface_get_stride(picture.get()));
  unsigned char* data = cairo_image_surface_get_data(picture.get());
  if (data == nullptr) return;  // out of memory: finish() reports it, for the surface is in error too
  for (std::size_t y = 0; y < image.height; ++y)
    std::copy_n(image.pixels.data() + y * image.width, image.width,
                reinterpret_cast<std::uint32_t*>(data + y * stride));
  cairo_surface_mark_dirty(picture.get());
  cairo_save(state_->cairo());
  cairo_translate(state_->cairo(), box.x, box.y);
  cairo_scale(state_->cairo(), box.width / width, box.height / height);
  cairo_set_source_surface(state_->cairo(), picture.get(), 0.0, 0.0);
  cairo_pattern_set_filter(cairo_get_source(state_->cairo()), CAIRO_FILTER_NEAREST);
  cairo_paint(state_->cairo());
  cairo_restore(state_->cairo());
}

double Canvas::text_width(const std::string& text, const TextStyle& style) {
  state_->set_font(style);
  cairo_text_extents_t extents{};
  cairo_text_extents(state_->cairo(), text.c_str(), &extents);
  return extents.x_advance;
}

void Canvas::text(Point at, const std::string& text, const TextStyle& style) {
  const double width = text_width(text, style);
  const double shift = style.align == Align::start ? 0.0 : style.align == Align::middle ? -width / 2.0 : -width;
  cairo_save(state_->cairo());
  cairo_translate(state_->cairo(), at.x, at.y);
  if (style.upwards) cairo_rotate(state_->cairo(), -std::numbers::pi / 2.0);
  cairo_move_to(state_->cairo(), shift, 0.0);
  if (style.halo) {
    cairo_text_path(state_->cairo(), text.c_str());
    state_->set_colour(kHalo);
    cairo_set_line_width(state_->cairo(), 3.0);
    cairo_set_line_join(state_->cairo(), CAIRO_LINE_JOIN_ROUND);
    cairo_stroke(state_->cairo());
    cairo_move_to(state_->cairo(), shift, 0.0);
  }
  state_->set_colour(style.colour);
  cairo_show_text(state_->cairo(), text.c_str());
  cairo_restore(state_->cairo());
}

Canvas::Clip Canvas::clip(const Box& box) {
  cairo_save(state_->cairo());
  cairo_rectangle(state_->cairo(), box.x, box.y, box.width, box.height);
  cairo_clip(state_->cairo());
  return Clip(*state_);
}

Expected<void> Canvas::finish() {
  cairo_status_t status = cairo_status(state_->cairo());
  if (status == CAIRO_STATUS_SUCCESS && state_->png) {
    status = cairo_surface_write_to_png_stream(state_->surface.get(), append_bytes, &state_->bytes);
  } else if (status == CAIRO_STATUS_SUCCESS) {
    cairo_surface_finish(state_->surface.get());
    status = cairo_surface_status(state_->surface.get());
  }
  if (status != CAIRO_STATUS_SUCCESS)
    return runtime_error(state_->path, std::string("cannot be drawn: ") + cairo_status_to_string(status));
  return write_durably(state_->path, state_->bytes);
}

}  // namespace cornerturn
